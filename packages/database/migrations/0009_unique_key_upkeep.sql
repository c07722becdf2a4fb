-- Unique keys of jobs that live again, and of jobs that are gone.

-- Takes the keys of jobs that are about to live again: dead letters, and jobs that were cancelled with their parent.
-- Answers those whose key another job holds, with that job; they must stay as they are. Their time begins anew.
create function holdfast.reacquire_unique_keys(project uuid, job_ids uuid[])
returns table (job_id uuid, holder_id uuid)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  -- Of jobs that share a key, the first may have it.
  wanted jsonb;
  fresh bytea[];
begin
  select jsonb_agg(
    j.unique_lock || jsonb_build_object('jobId', j.id, 'seq', j.execution_seq, 'onConflict', 'keep') order by j.id
  )
  into wanted
  from unnest(job_ids) as n (id)
  cross join lateral (
    select a.id, a.unique_lock, a.execution_seq
    from holdfast.all_jobs as a
    where a.project_id = project and a.id = n.id
      and (a.status = 'dead_letter' or a.status = 'cancelled' and a.reason = 'parent_failed')
    limit 1
  ) as j
  where j.unique_lock is not null;
  if wanted is null then
    return;
  end if;

  fresh := holdfast.lock_unique_keys(project, (
    select jsonb_agg(f.request)
    from (
      select distinct on (r.request ->> 'digest') r.request
      from jsonb_array_elements(wanted) as r (request)
      order by r.request ->> 'digest', r.request ->> 'jobId'
    ) as f
  ));
  return query
  with decided as materialized (
    select
      d.request, d.lock_row, (d.request ->> 'jobId')::uuid as id,
      coalesce(
        d.holder_id,
        first_value((d.request ->> 'jobId')::uuid) over (partition by d.lock_row order by d.request ->> 'jobId')
      ) as winner_id
    from unnest(holdfast.decide_unique_keys(project, wanted, fresh)) as d
  ),
  locked as (
    update holdfast.unique_locks as l
    set
      job_id = d.id,
      until = d.request ->> 'until',
      execution_seq = (d.request -> 'seq')::integer,
      expires_at = clock_timestamp() + (d.request -> 'ttlMs')::double precision * interval '1 millisecond',
      next_job_id = null,
      acquired_at = clock_timestamp()
    from decided as d
    where l.ctid = d.lock_row and d.winner_id = d.id
  )
  select d.id, d.winner_id from decided as d where d.winner_id <> d.id;
end
$$;

-- Removes locks whose jobs are gone, a page of those that were taken longest ago; answers how many. Here too the rows
-- are locked before their jobs are looked at.
create function holdfast.forget_unique_keys(unused_ms double precision, page integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  picked tid[];
  forgotten integer;
begin
  select array_agg(found.row_id) into picked
  from (
    select l.ctid as row_id
    from holdfast.unique_locks as l
    where l.acquired_at < clock_timestamp() - unused_ms * interval '1 millisecond'
      and coalesce(l.expires_at <= clock_timestamp(), true)
      and not exists (
        select from holdfast.jobs as j where j.project_id = l.project_id and j.id in (l.job_id, l.next_job_id)
      )
    order by l.acquired_at
    limit page
    for update skip locked
  ) as found;
  delete from holdfast.unique_locks as l
  where l.ctid = any (picked)
    and coalesce(l.expires_at <= clock_timestamp(), true)
    and not exists (
      select from holdfast.jobs as j where j.project_id = l.project_id and j.id in (l.job_id, l.next_job_id)
    );
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
