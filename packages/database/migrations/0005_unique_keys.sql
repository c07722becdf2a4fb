-- Taking unique keys. Whoever takes one locks its row in unique_locks first and looks at the holder in a statement of its
-- own: a holder that was committed while this one waited for the row is seen by the second statement only. Rows of
-- locks come before rows of jobs, and both in the order of their keys, so that no two callers wait for each other.

-- The name of a key in unique_locks. What the scope names is preceded by its length, so that no two keys share a text.
create function holdfast.unique_digest(scope text, owner text, key text) returns bytea
language sql immutable parallel safe
return sha256(convert_to(
  scope || ':' || octet_length(convert_to(owner, 'UTF8')) || ':' || owner || key, 'UTF8'
));

-- Whether the job that a lock names holds the key, from the lock's columns and the job's; null for a job that is gone.
create function holdfast.holds_unique_key(
  until text, expires_at timestamptz, taken_at_seq integer, status holdfast.job_status, execution_seq integer
) returns boolean
language sql volatile
return case until
  when 'ttl' then expires_at > clock_timestamp()
  when 'start' then status in ('queued', 'scheduled') and execution_seq <= taken_at_seq
  else status in ('queued', 'scheduled', 'claimed', 'running', 'failed')
end;

-- Decides for each request what becomes of its job. No two requests may name the same key. A request is
-- { no, jobId, digest, scope, key, until, ttlMs?, onConflict }, with { type, payload, priority, tags, metadata, delayMs?,
-- runAt?, waitMs?, maxWaitMs? } where the job may take another's place; payload and metadata are JSON as text. Verdicts:
--   insert         the key is taken: the caller inserts the job in the same transaction
--   existing       the job is there already, or has ended since: an earlier call was answered, but its answer was lost
--   queued_behind  the caller inserts the job with one more parent, the holder
--   kept           nothing changes; job_id holds the key
--   replaced       job_id holds the key and has this request's content now
--   debounced      the same, and it waits anew
--   rejected       nothing was changed for any of the requests
create function holdfast.acquire_unique_keys(project uuid, requests jsonb)
returns table (request_no integer, verdict text, job_id uuid, job_status text, holder_id uuid)
language plpgsql
set search_path = pg_catalog, pg_temp
-- Few rows of large tables are wanted, whatever a plan that was made long ago took the tables for.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  fresh bytea[];
begin
  with taken as (
    insert into holdfast.unique_locks as l (project_id, digest, scope, key, job_id, until, expires_at)
    select
      project, decode(r.digest, 'hex'), r.scope, r.key, r."jobId", r.until,
      clock_timestamp() + r."ttlMs" * interval '1 millisecond'
    from jsonb_to_recordset(requests) as r (
      digest text, scope text, key text, "jobId" uuid, until text, "ttlMs" double precision
    )
    order by 2
    -- Locks the row that exists, and writes nothing.
    on conflict (project_id, digest) do update set job_id = l.job_id where false
    returning l.digest
  )
  select coalesce(array_agg(digest), '{}') into fresh from taken;

  -- Jobs that may be given other content or a follower stay as they are until this transaction ends.
  if requests @? '$[*].onConflict ? (@ == "replace" || @ == "debounce" || @ == "queue_latest")' then
    perform
    from jsonb_to_recordset(requests) as r (digest text, "onConflict" text)
    join holdfast.unique_locks as l on l.project_id = project and l.digest = decode(r.digest, 'hex')
    cross join lateral unnest(array[l.job_id, l.next_job_id]) as named (id)
    join holdfast.jobs as j on j.project_id = project and j.id = named.id
    where j.status in ('queued', 'scheduled', 'claimed', 'running', 'failed')
      and case r."onConflict"
        when 'queue_latest' then true
        when 'keep' then false
        when 'reject' then false
        else j.status in ('queued', 'scheduled') and j.execution_seq <= l.execution_seq
      end
    order by j.id
    for no key update of j;
  end if;

  return query
  with fact as materialized (
    select
      r.no, r."jobId" as own_id, r."onConflict" as mode, r.until as own_until, r."ttlMs" as ttl_ms, r.type, r.payload,
      r.priority, r.tags, r.metadata, r."waitMs" as wait_ms, r."maxWaitMs" as max_wait_ms,
      coalesce(extract(epoch from r."runAt" - clock_timestamp())::double precision * 1000, r."delayMs", 0) as delay_ms,
      l.digest, l.until, l.execution_seq as taken_at_seq,
      l.job_id as named_id, named.status as named_status, named.type as named_type, named.execution_seq as named_seq,
      l.next_job_id as next_id, next.status as next_status, next.type as next_type, next.execution_seq as next_seq,
      own.status as own_status,
      own.id is not null or (
        l.digest <> all (fresh) and (l.job_id = r."jobId" or l.next_job_id is not distinct from r."jobId")
      ) as exists_already,
      case
        when l.digest = any (fresh) then null
        when holdfast.holds_unique_key(
          l.until, l.expires_at, l.execution_seq, named.status, named.execution_seq
        ) then 'named'
        when next.status in ('queued', 'scheduled', 'claimed', 'running', 'failed') then 'next'
      end as held_by
    from jsonb_to_recordset(requests) as r (
      no integer, "jobId" uuid, digest text, until text, "ttlMs" double precision, "onConflict" text, type text,
      payload text, priority smallint, tags jsonb, metadata text, "delayMs" double precision, "runAt" timestamptz,
      "waitMs" double precision, "maxWaitMs" double precision
    )
    join holdfast.unique_locks as l on l.project_id = project and l.digest = decode(r.digest, 'hex')
    left join holdfast.jobs as named on named.project_id = project and named.id = l.job_id
    left join holdfast.jobs as next on next.project_id = project and next.id = l.next_job_id
    left join holdfast.jobs as own on own.project_id = project and own.id = r."jobId"
  ),
  -- The follower of a holder that has ended is the holder now.
  holder as (
    select
      fact.*,
      case held_by when 'named' then named_id when 'next' then next_id end as holder_id,
      case held_by when 'named' then named_status when 'next' then next_status end as holder_status,
      case held_by
        when 'named' then
          named_type = type and named_status in ('queued', 'scheduled') and named_seq <= taken_at_seq
        when 'next' then next_type = type and next_status in ('queued', 'scheduled') and next_seq = 0
      end as takes_content,
      held_by = 'named' and next_status in ('queued', 'scheduled', 'claimed', 'running', 'failed') as has_follower,
      -- Has started, and holds until its end: a job may wait for that.
      case held_by
        when 'named' then
          until = 'done' and not (named_status in ('queued', 'scheduled') and named_seq <= taken_at_seq)
        when 'next' then not (next_status in ('queued', 'scheduled') and next_seq = 0)
      end as takes_follower
    from fact
  ),
  decided as materialized (
    select
      holder.*,
      case
        when exists_already then 'existing'
        when held_by is null then 'insert'
        when mode = 'reject' then 'rejected'
        when mode = 'keep' then 'kept'
        when takes_content and mode = 'debounce' and holder_status = 'scheduled' then 'debounced'
        when takes_content then 'replaced'
        when mode <> 'queue_latest' or not takes_follower then 'kept'
        when not coalesce(has_follower, false) then 'queued_behind'
        when next_type = type and next_status in ('queued', 'scheduled') and next_seq = 0 then 'replaced'
        else 'kept'
      end as verdict,
      case
        when mode = 'queue_latest' and takes_follower and has_follower then next_id else holder_id
      end as target_id,
      case
        when mode = 'queue_latest' and takes_follower and has_follower then next_status else holder_status
      end as target_status
    from holder
  ),
  refused as materialized (
    select from decided where verdict = 'rejected' limit 1
  ),
  -- A key that nobody took is nobody's.
  dropped as (
    delete from holdfast.unique_locks as l
    using decided as d
    where exists (select from refused) and l.project_id = project and l.digest = d.digest and d.digest = any (fresh)
  ),
  locked as (
    update holdfast.unique_locks as l
    set
      job_id = case when d.verdict = 'insert' then d.own_id else d.holder_id end,
      until = case when d.verdict = 'insert' then d.own_until when d.held_by = 'next' then 'done' else l.until end,
      execution_seq = case when d.verdict = 'insert' or d.held_by = 'next' then 0 else l.execution_seq end,
      expires_at = case
        when d.verdict = 'insert' then clock_timestamp() + d.ttl_ms * interval '1 millisecond'
        when d.held_by = 'named' then l.expires_at
      end,
      next_job_id = case
        when d.verdict = 'queued_behind' then d.own_id
        when d.held_by = 'named' then l.next_job_id
      end,
      acquired_at = clock_timestamp()
    from decided as d
    where not exists (select from refused)
      and l.project_id = project and l.digest = d.digest and d.digest <> all (fresh)
      and (d.verdict in ('insert', 'queued_behind') or (d.held_by = 'next' and d.verdict <> 'existing'))
  ),
  changed as (
    update holdfast.jobs as j
    set
      payload = d.payload::jsonb,
      priority = d.priority,
      tags = case when d.tags is not null then array(select jsonb_array_elements_text(d.tags)) end,
      metadata = d.metadata::jsonb,
      run_at = case
        when d.verdict = 'debounced' and j.pending_parents = 0 then
          least(
            clock_timestamp() + d.wait_ms * interval '1 millisecond',
            j.created_at + coalesce(d.max_wait_ms * interval '1 millisecond', interval '10 years')
          )
        else j.run_at
      end
    from decided as d
    where not exists (select from refused)
      and d.verdict in ('replaced', 'debounced') and j.project_id = project and j.id = d.target_id
      and j.status in ('queued', 'scheduled')
  ),
  preceded as (
    update holdfast.jobs as j
    set has_children = true
    from decided as d
    where not exists (select from refused)
      and d.verdict = 'queued_behind' and j.project_id = project and j.id = d.holder_id and not j.has_children
  ),
  linked as (
    insert into holdfast.job_dependencies (project_id, parent_id, child_id, on_failure, child_delay_ms)
    select project, d.holder_id, d.own_id, 'run', greatest(d.delay_ms, 0)
    from decided as d
    where not exists (select from refused) and d.verdict = 'queued_behind'
  )
  select
    d.no,
    d.verdict,
    answer.id,
    coalesce(
      answer.status,
      (select h.status from holdfast.job_history as h where h.project_id = project and h.id = answer.id limit 1)
    )::text,
    d.holder_id
  from decided as d
  cross join lateral (
    select
      case when d.verdict in ('insert', 'queued_behind', 'existing') then d.own_id else d.target_id end as id,
      case d.verdict
        when 'insert' then 'queued'
        when 'queued_behind' then 'scheduled'
        when 'existing' then d.own_status
        else d.target_status
      end as status
  ) as answer;
end
$$;

-- Takes the keys of jobs that are about to live again: dead letters, and cancelled jobs that come back. Answers those
-- whose key another job holds, with that job; they must stay as they are. Their time begins anew.
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
  wanted jsonb;
  fresh bytea[];
begin
  select jsonb_agg(jsonb_build_object('id', j.id, 'lock', j.unique_lock, 'seq', j.execution_seq) order by j.id)
  into wanted
  from unnest(job_ids) as n (id)
  cross join lateral (
    select a.id, a.unique_lock, a.execution_seq
    from holdfast.all_jobs as a
    where a.project_id = project and a.id = n.id and a.status in ('dead_letter', 'cancelled')
  ) as j
  where j.unique_lock is not null;
  if wanted is null then
    return;
  end if;

  with taken as (
    insert into holdfast.unique_locks as l (project_id, digest, scope, key, job_id, until)
    select distinct on (decode(w.lock ->> 'digest', 'hex'))
      project, decode(w.lock ->> 'digest', 'hex'), w.lock ->> 'scope', w.lock ->> 'key', w.id, 'done'
    from jsonb_to_recordset(wanted) as w (id uuid, lock jsonb)
    order by 2, w.id
    on conflict (project_id, digest) do update set job_id = l.job_id where false
    returning l.digest
  )
  select coalesce(array_agg(digest), '{}') into fresh from taken;

  return query
  with fact as materialized (
    select
      w.id, w.lock, w.seq, l.digest,
      case
        when l.digest = any (fresh) then null
        when holdfast.holds_unique_key(
          l.until, l.expires_at, l.execution_seq, named.status, named.execution_seq
        ) then l.job_id
        when next.status in ('queued', 'scheduled', 'claimed', 'running', 'failed') then l.next_job_id
      end as holder_id,
      first_value(w.id) over (partition by l.digest order by w.id) as first_id
    from jsonb_to_recordset(wanted) as w (id uuid, lock jsonb, seq integer)
    join holdfast.unique_locks as l
      on l.project_id = project and l.digest = decode(w.lock ->> 'digest', 'hex')
    left join holdfast.jobs as named on named.project_id = project and named.id = l.job_id
    left join holdfast.jobs as next on next.project_id = project and next.id = l.next_job_id
  ),
  -- Of jobs that share a key, one may have it.
  decided as materialized (
    select f.*, coalesce(f.holder_id, f.first_id) as winner_id from fact as f
  ),
  locked as (
    update holdfast.unique_locks as l
    set
      job_id = d.id,
      until = d.lock ->> 'until',
      execution_seq = d.seq,
      expires_at = clock_timestamp() + (d.lock -> 'ttlMs')::double precision * interval '1 millisecond',
      next_job_id = null,
      acquired_at = clock_timestamp()
    from decided as d
    where l.project_id = project and l.digest = d.digest and d.winner_id = d.id
  )
  select d.id, d.winner_id from decided as d where d.winner_id <> d.id;
end
$$;

-- Removes locks whose jobs are gone, a page of those that were taken longest ago; answers how many. Here too the rows are
-- locked before their jobs are looked at.
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
