-- Taking unique keys. Whoever takes one locks its row in unique_locks first and looks at the holder in a statement of its
-- own: a holder that was committed while this one waited for the row is seen by the second statement only. Rows of
-- locks come before rows of jobs, and both in the order of their keys, so that no two callers wait for each other.

-- To find the jobs that held a key.
create index job_history_of_key on holdfast.job_history (project_id, (unique_lock ->> 'key'), id)
where unique_lock is not null;

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

-- What a caller asked for, what becomes of it, and the rows that matter, all of which the transaction has locked.
create type holdfast.unique_decision as (
  request jsonb,
  verdict text,
  -- The job that stands for the request, or its own.
  job_id uuid,
  job_status holdfast.job_status,
  job_row tid,
  holder_id uuid,
  holder_row tid,
  lock_row tid,
  is_fresh boolean,
  -- The follower of a holder that has ended is the holder now.
  is_promoted boolean
);

-- Locks the rows of the keys, in their order; answers the digests of those that nobody had.
create function holdfast.lock_unique_keys(project uuid, requests jsonb) returns bytea[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
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
  return fresh;
end
$$;

-- Locks the jobs that may be given other content (not started) or a follower (of any live status), in their order.
create function holdfast.lock_key_holders(project uuid, requests jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  replaceable uuid[];
  followable uuid[];
begin
  select array_agg(named.id), array_agg(named.id) filter (where r.mode = 'queue_latest')
  into replaceable, followable
  from jsonb_to_recordset(requests) as c (digest text, "onConflict" text)
  cross join lateral (select c."onConflict" as mode) as r
  cross join lateral (
    select l.job_id, l.next_job_id
    from holdfast.unique_locks as l
    where l.project_id = project and l.digest = decode(c.digest, 'hex')
    limit 1
  ) as lock
  cross join lateral unnest(array[lock.job_id, lock.next_job_id]) as named (id)
  where r.mode not in ('keep', 'reject') and named.id is not null;

  perform
  from holdfast.jobs as j
  where j.project_id = project and j.id = any (replaceable)
    and (
      j.status in ('queued', 'scheduled')
      or (j.status in ('claimed', 'running', 'failed') and j.id = any (followable))
    )
  order by j.id
  for no key update;
end
$$;

-- Looks at the holders and decides. Every look-up is one of its own, by key: a join might be planned as a scan while the
-- tables are small, and stay one.
create function holdfast.decide_unique_keys(project uuid, requests jsonb, fresh bytea[])
returns holdfast.unique_decision[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  decisions holdfast.unique_decision[];
begin
  with fact as materialized (
    select
      r.request, r.request ->> 'onConflict' as mode, (r.request ->> 'jobId')::uuid as own_id, own.status as own_status,
      lock.row_id as lock_row, lock.until, lock.job_id as named_id, lock.next_job_id as next_id,
      lock.digest = any (fresh) as is_fresh,
      named.row_id as named_row, named.status as named_status, next.row_id as next_row, next.status as next_status,
      own.id is not null
        or lock.digest <> all (fresh) and (r.request ->> 'jobId')::uuid in (lock.job_id, lock.next_job_id)
        as exists_already,
      case
        when lock.digest = any (fresh) then null
        when holdfast.holds_unique_key(
          lock.until, lock.expires_at, lock.execution_seq, named.status, named.execution_seq
        ) then 'named'
        when next.status in ('queued', 'scheduled', 'claimed', 'running', 'failed') then 'next'
      end as held_by,
      coalesce(named.status in ('queued', 'scheduled') and named.execution_seq <= lock.execution_seq, false)
        as named_is_new,
      coalesce(next.status in ('queued', 'scheduled') and next.execution_seq = 0, false) as next_is_new,
      named.type = r.request ->> 'type' as named_is_alike,
      next.type = r.request ->> 'type' as next_is_alike
    from jsonb_array_elements(requests) as r (request)
    cross join lateral (
      select
        l.ctid as row_id, l.digest, l.until, l.expires_at, l.execution_seq, l.job_id, l.next_job_id
      from holdfast.unique_locks as l
      where l.project_id = project and l.digest = decode(r.request ->> 'digest', 'hex')
      limit 1
    ) as lock
    left join lateral (
      select j.ctid as row_id, j.status, j.type, j.execution_seq
      from holdfast.jobs as j where j.project_id = project and j.id = lock.job_id
      limit 1
    ) as named on true
    left join lateral (
      select j.ctid as row_id, j.status, j.type, j.execution_seq
      from holdfast.jobs as j where j.project_id = project and j.id = lock.next_job_id
      limit 1
    ) as next on true
    left join lateral (
      select j.id, j.status
      from holdfast.jobs as j where j.project_id = project and j.id = (r.request ->> 'jobId')::uuid
      limit 1
    ) as own on true
  ),
  holder as materialized (
    select
      fact.*,
      held_by = 'next' as is_promoted,
      case held_by when 'named' then named_id when 'next' then next_id end as id,
      case held_by when 'named' then named_status when 'next' then next_status end as status,
      case held_by when 'named' then named_row when 'next' then next_row end as row_id,
      case held_by when 'named' then named_is_new and named_is_alike when 'next' then next_is_new and next_is_alike end
        as takes_content,
      -- It has started, and holds until its end: another job may wait for that.
      mode = 'queue_latest' and (
        held_by = 'named' and until = 'done' and not named_is_new or held_by = 'next' and not next_is_new
      ) as takes_follower,
      held_by = 'named' and coalesce(next_status in ('queued', 'scheduled', 'claimed', 'running', 'failed'), false)
        as has_follower
    from fact
  ),
  decided as (
    select
      holder.*,
      case
        when exists_already then 'existing'
        when held_by is null then 'insert'
        when mode = 'reject' then 'rejected'
        when mode = 'keep' then 'kept'
        when takes_content and mode = 'debounce' and status = 'scheduled' then 'debounced'
        when takes_content then 'replaced'
        when not takes_follower then 'kept'
        when not has_follower then 'queued_behind'
        when next_is_new and next_is_alike then 'replaced'
        else 'kept'
      end as verdict,
      takes_follower and has_follower as is_for_follower
    from holder
  )
  select array_agg((
    d.request,
    d.verdict,
    case
      when d.verdict in ('insert', 'existing', 'queued_behind') then d.own_id
      when d.is_for_follower then d.next_id
      else d.id
    end,
    case
      when d.verdict = 'insert' then 'queued'
      when d.verdict = 'queued_behind' then 'scheduled'
      when d.verdict = 'existing' then d.own_status
      when d.is_for_follower then d.next_status
      else d.status
    end,
    case when d.is_for_follower then d.next_row else d.row_id end,
    d.id,
    d.row_id,
    d.lock_row,
    d.is_fresh,
    coalesce(d.is_promoted, false)
  )::holdfast.unique_decision)
  into decisions
  from decided as d;
  return decisions;
end
$$;

-- Writes what was decided. The rows are found by their place, which is safe for rows that are locked.
create function holdfast.apply_unique_decisions(project uuid, decisions holdfast.unique_decision[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  update holdfast.unique_locks as l
  set
    job_id = case when d.verdict = 'insert' then (d.request ->> 'jobId')::uuid else d.holder_id end,
    until = case when d.verdict = 'insert' then d.request ->> 'until' when d.is_promoted then 'done' else l.until end,
    execution_seq = case when d.verdict = 'insert' or d.is_promoted then 0 else l.execution_seq end,
    expires_at = case
      when d.verdict = 'insert' then
        clock_timestamp() + (d.request -> 'ttlMs')::double precision * interval '1 millisecond'
      when not d.is_promoted then l.expires_at
    end,
    next_job_id = case
      when d.verdict = 'queued_behind' then (d.request ->> 'jobId')::uuid
      when d.verdict <> 'insert' and not d.is_promoted then l.next_job_id
    end,
    acquired_at = clock_timestamp()
  from unnest(decisions) as d
  where l.ctid = d.lock_row and not d.is_fresh
    and (d.verdict in ('insert', 'queued_behind') or (d.is_promoted and d.verdict <> 'existing'));

  if exists (select from unnest(decisions) as d where d.verdict in ('replaced', 'debounced')) then
    update holdfast.jobs as j
    set
      payload = (d.request ->> 'payload')::jsonb,
      priority = (d.request -> 'priority')::smallint,
      tags = case
        when d.request ? 'tags' then array(select jsonb_array_elements_text(d.request -> 'tags'))
      end,
      metadata = (d.request ->> 'metadata')::jsonb,
      run_at = case
        when d.verdict = 'debounced' and j.pending_parents = 0 then
          least(
            clock_timestamp() + (d.request -> 'waitMs')::double precision * interval '1 millisecond',
            j.created_at + coalesce(
              (d.request -> 'maxWaitMs')::double precision * interval '1 millisecond', interval '10 years'
            )
          )
        else j.run_at
      end
    from unnest(decisions) as d
    where j.ctid = d.job_row and j.id = d.job_id and d.verdict in ('replaced', 'debounced')
      and j.status in ('queued', 'scheduled');
  end if;

  if exists (select from unnest(decisions) as d where d.verdict = 'queued_behind') then
    update holdfast.jobs as j
    set has_children = true
    from unnest(decisions) as d
    where j.ctid = d.holder_row and j.id = d.holder_id and d.verdict = 'queued_behind' and not j.has_children;

    insert into holdfast.job_dependencies (project_id, parent_id, child_id, on_failure, child_delay_ms)
    select
      project, d.holder_id, (d.request ->> 'jobId')::uuid, 'run',
      greatest(0, (d.request -> 'delayMs')::double precision, extract(
        epoch from (d.request ->> 'runAt')::timestamptz - clock_timestamp()
      )::double precision * 1000)
    from unnest(decisions) as d
    where d.verdict = 'queued_behind';
  end if;
end
$$;

-- The status of a job that has ended for good.
create function holdfast.ended_job_status(project uuid, job uuid) returns holdfast.job_status
language sql stable
return (select h.status from holdfast.job_history as h where h.project_id = project and h.id = job limit 1);

-- Decides for each request what becomes of its job. No two requests may name the same key. A request is
-- { no, jobId, type, queue, digest, scope, key, until, ttlMs?, onConflict }, with { payload, priority, tags, metadata,
-- delayMs?, runAt?, waitMs?, maxWaitMs? } where the job may take another's place; payload and metadata are JSON as text.
-- Verdicts:
--   insert         the key is taken: the caller inserts the job in the same transaction
--   existing       the job is there already, or has ended since: an earlier call was answered, but its answer was lost
--   queued_behind  the caller inserts the job with one more parent, the holder
--   kept           nothing changes; job_id holds the key
--   replaced       job_id holds the key, or is next, and has this request's content now
--   debounced      the same, and it waits anew
--   rejected       nothing was changed for any of the requests
create function holdfast.acquire_unique_keys(project uuid, requests jsonb)
returns table (request_no integer, verdict text, job_id uuid, job_status text, holder_id uuid)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  fresh bytea[] := holdfast.lock_unique_keys(project, requests);
  decisions holdfast.unique_decision[];
begin
  if requests @? '$[*].onConflict ? (@ == "replace" || @ == "debounce" || @ == "queue_latest")' then
    perform holdfast.lock_key_holders(project, requests);
  end if;
  decisions := holdfast.decide_unique_keys(project, requests, fresh);
  if not exists (select from unnest(decisions) as d where d.verdict = 'rejected') then
    perform holdfast.apply_unique_decisions(project, decisions);
    insert into holdfast.events (project_id, event, job_id, data)
    select
      project, 'JobDeduplicated', d.job_id,
      jsonb_build_object('type', d.request -> 'type', 'queue', d.request -> 'queue', 'reason', d.verdict)
    from unnest(decisions) as d
    where d.verdict in ('kept', 'replaced', 'debounced')
      and exists (
        select from holdfast.event_subscriptions as s where s.project_id = project and s.event = 'JobDeduplicated'
      );
  elsif cardinality(fresh) > 0 then
    delete from holdfast.unique_locks as l where l.project_id = project and l.digest = any (fresh);
  end if;
  return query
  select
    (d.request -> 'no')::integer, d.verdict, d.job_id,
    coalesce(d.job_status, holdfast.ended_job_status(project, d.job_id))::text, d.holder_id
  from unnest(decisions) as d;
end
$$;
