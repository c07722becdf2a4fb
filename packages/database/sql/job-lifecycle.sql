-- Every statement that changes a job's status, in the order of a life.
--
-- Rules that hold in each: a worker's write names the lease token, and no row back means the lease is lost; status
-- names are literals, so that partial indexes serve generic plans too; times come from the database, and a worker says
-- only how many milliseconds ago something happened; rows are locked in id order or skipped when locked; and what
-- happened is written to the outbox only where somebody subscribed, never about a job that a subscription made.

-- name: enqueue_jobs
-- (new) → queued. Called by every way to enqueue a job that is due now.
-- The id of a job that has not ended for good is left alone, so that a repeated call makes no second one. What few jobs
-- have travels in one document each.
with inserted as (
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    schedule_id, fire_at, start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version,
    status, seq, run_at, created_at
  )
  select
    $1::uuid, n.id, n.queue_id, n.type, n.payload::jsonb, n.priority, n.max_attempts, n.timeout_ms, n.retry::jsonb,
    case when n.tags is not null then array(select jsonb_array_elements_text(n.tags::jsonb)) end, n.metadata::jsonb,
    n.schedule_id, n.fire_at,
    holdfast.start_deadline(n.extras), (n.extras ->> 'batchId')::uuid, (n.extras ->> 'eventId')::uuid,
    n.extras -> 'unique', coalesce((n.extras -> 'hasChildren')::boolean, false),
    holdfast.stored_payload_version(n.extras),
    'queued', nextval('holdfast.job_seq'), clock_timestamp(), clock_timestamp()
  from unnest(
    $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::integer[], $8::integer[], $9::text[],
    $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::jsonb[]
  ) as n (
    id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry,
    tags, metadata, schedule_id, fire_at, extras
  )
  on conflict do nothing
  returning id, queue_id, type, attempt, execution_seq, event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobQueued', i.id, jsonb_build_object(
    'type', i.type, 'queue', q.name, 'attempt', i.attempt, 'executionSeq', i.execution_seq
  )
  from inserted as i
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = i.queue_id
  where i.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobQueued')
)
select id from inserted;

-- name: schedule_jobs
-- (new) → scheduled. Called by every way to enqueue a job for later: after a delay, or at an instant.
-- An instant in the past means now; the promoter takes it up at its next round.
with inserted as (
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    schedule_id, fire_at, start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version,
    status, run_at, created_at
  )
  select
    $1::uuid, n.id, n.queue_id, n.type, n.payload::jsonb, n.priority, n.max_attempts, n.timeout_ms, n.retry::jsonb,
    case when n.tags is not null then array(select jsonb_array_elements_text(n.tags::jsonb)) end, n.metadata::jsonb,
    n.schedule_id, n.fire_at,
    holdfast.start_deadline(n.extras), (n.extras ->> 'batchId')::uuid, (n.extras ->> 'eventId')::uuid,
    n.extras -> 'unique', coalesce((n.extras -> 'hasChildren')::boolean, false),
    holdfast.stored_payload_version(n.extras),
    'scheduled',
    greatest(clock_timestamp(), coalesce(n.run_at, clock_timestamp() + n.delay_ms * interval '1 millisecond')),
    clock_timestamp()
  from unnest(
    $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::integer[], $8::integer[], $9::text[],
    $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::jsonb[], $15::timestamptz[],
    $16::double precision[]
  ) as n (
    id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry,
    tags, metadata, schedule_id, fire_at, extras, run_at, delay_ms
  )
  on conflict do nothing
  returning id, queue_id, type, attempt, execution_seq, event_id, run_at
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobScheduled', i.id, jsonb_build_object(
    'type', i.type, 'queue', q.name, 'attempt', i.attempt, 'executionSeq', i.execution_seq,
    'nextDelayMs', greatest(0, round(extract(epoch from i.run_at - clock_timestamp()) * 1000))
  )
  from inserted as i
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = i.queue_id
  where i.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobScheduled')
)
select id from inserted;

-- name: hold_back_jobs
-- (new) → scheduled. Called by every way to enqueue a job that waits for others; it is due when they have ended.
with inserted as (
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    schedule_id, fire_at, start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version,
    status, pending_parents, run_at, created_at
  )
  select
    $1::uuid, n.id, n.queue_id, n.type, n.payload::jsonb, n.priority, n.max_attempts, n.timeout_ms, n.retry::jsonb,
    case when n.tags is not null then array(select jsonb_array_elements_text(n.tags::jsonb)) end, n.metadata::jsonb,
    n.schedule_id, n.fire_at,
    holdfast.start_deadline(n.extras), (n.extras ->> 'batchId')::uuid, (n.extras ->> 'eventId')::uuid,
    n.extras -> 'unique', coalesce((n.extras -> 'hasChildren')::boolean, false),
    holdfast.stored_payload_version(n.extras),
    'scheduled', n.parent_count, 'infinity', clock_timestamp()
  from unnest(
    $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::integer[], $8::integer[], $9::text[],
    $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::jsonb[], $15::integer[]
  ) as n (
    id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry,
    tags, metadata, schedule_id, fire_at, extras, parent_count
  )
  on conflict do nothing
  returning id, queue_id, type, attempt, execution_seq, event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobScheduled', i.id, jsonb_build_object(
    'type', i.type, 'queue', q.name, 'attempt', i.attempt, 'executionSeq', i.execution_seq, 'reason', 'parents_pending'
  )
  from inserted as i
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = i.queue_id
  where i.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobScheduled')
)
select id from inserted;

-- name: promote_jobs
-- scheduled → queued. Called by the promoter, page by page.
-- A row that somebody else holds is skipped; it is promoted in a later round.
with due as materialized (
  select ready.*, nextval('holdfast.job_seq') as seq
  from (
    select ctid as row_id, project_id, id, queue_id, type, attempt, execution_seq, event_id
    from holdfast.jobs
    where status = 'scheduled' and run_at <= clock_timestamp()
    order by run_at
    limit $1
    for no key update skip locked
  ) as ready
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select d.project_id, 'JobQueued', d.id, jsonb_build_object(
    'type', d.type, 'queue', q.name, 'attempt', d.attempt, 'executionSeq', d.execution_seq
  )
  from due as d
  join holdfast.queues as q on q.project_id = d.project_id and q.id = d.queue_id
  where d.event_id is null
    and exists (select from holdfast.event_subscriptions where event = 'JobQueued')
    and exists (select from holdfast.event_subscriptions where project_id = d.project_id and event = 'JobQueued')
)
update holdfast.jobs as j
set status = 'queued', seq = due.seq
from due
where j.ctid = due.row_id
returning j.project_id, j.queue_id;

-- name: unblock_jobs
-- scheduled → queued. Called by the settler for jobs whose last parent has ended.
with ready as materialized (
  select j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id, nextval('holdfast.job_seq') as seq
  from unnest($2::uuid[]) as n (id)
  join holdfast.jobs as j on j.project_id = $1 and j.id = n.id
  where j.status = 'scheduled' and j.pending_parents > 0
  order by j.id
  for no key update of j
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', r.id, jsonb_build_object(
    'type', r.type, 'queue', q.name, 'attempt', r.attempt, 'executionSeq', r.execution_seq
  )
  from ready as r
  join holdfast.queues as q on q.project_id = $1 and q.id = r.queue_id
  where r.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
update holdfast.jobs as j
set status = 'queued', pending_parents = 0, seq = ready.seq, run_at = clock_timestamp()
from ready
where j.project_id = $1 and j.id = ready.id
returning j.id, j.queue_id;

-- name: postpone_unblocked_jobs
-- scheduled → scheduled. Called by the settler for jobs whose last parent has ended and which have a delay of their own.
with ready as materialized (
  select j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id, n.delay_ms
  from unnest($2::uuid[], $3::double precision[]) as n (id, delay_ms)
  join holdfast.jobs as j on j.project_id = $1 and j.id = n.id
  where j.status = 'scheduled' and j.pending_parents > 0
  order by j.id
  for no key update of j
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobScheduled', r.id, jsonb_build_object(
    'type', r.type, 'queue', q.name, 'attempt', r.attempt, 'executionSeq', r.execution_seq, 'nextDelayMs', r.delay_ms
  )
  from ready as r
  join holdfast.queues as q on q.project_id = $1 and q.id = r.queue_id
  where r.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobScheduled')
)
update holdfast.jobs as j
set pending_parents = 0, run_at = clock_timestamp() + ready.delay_ms * interval '1 millisecond'
from ready
where j.project_id = $1 and j.id = ready.id
returning j.id, j.queue_id;

-- name: claim_jobs
-- queued → claimed. Called by a worker for queues without a limit; SKIP LOCKED keeps claimers apart.
-- Of the types, `a` stands for payloads of version 1, and `a@2` for those of version 2: no type has an @.
-- Lanes are (queue, priority) pairs in the order to serve; each starts behind a low-water mark of seq. The pick is
-- materialized so that no plan can run it twice and claim too many; joining by ctid is safe on rows just locked.
with lanes as materialized (
  select lane.queue_id, lane.priority, lane.after_seq
  from unnest($2::bigint[], $3::smallint[], $4::bigint[]) with ordinality
    as lane (queue_id, priority, after_seq, position)
  join holdfast.queues as q on q.project_id = $1 and q.id = lane.queue_id
  where q.paused_at is null and q.concurrency is null
  order by lane.position
),
picked as materialized (
  (
    select suspect.row_id
    from lanes
    cross join lateral (
      select j.ctid as row_id
      from holdfast.jobs as j
      where j.queue_id = lanes.queue_id and j.priority = lanes.priority
        and j.status = 'queued' and j.crash_count > 0
        and case
          when j.payload_version is null then j.type = any ($5::text[])
          else j.type || '@' || j.payload_version = any ($5::text[])
        end
      order by j.seq
      limit $7
      for no key update skip locked
    ) as suspect
    limit $7
  )
  union all
  (
    select job.row_id
    from lanes
    cross join lateral (
      select j.ctid as row_id
      from holdfast.jobs as j
      where j.queue_id = lanes.queue_id and j.priority = lanes.priority and j.seq > lanes.after_seq
        and j.status = 'queued' and j.crash_count = 0
        and case
          when j.payload_version is null then j.type = any ($5::text[])
          else j.type || '@' || j.payload_version = any ($5::text[])
        end
        and coalesce(j.start_deadline_at > clock_timestamp() or j.attempt > 0 or j.release_count > 0, true)
      order by j.seq
      limit $6
      for no key update skip locked
    ) as job
    limit $6
  )
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobProcessing', j.id, jsonb_build_object(
    'type', j.type, 'queue', q.name, 'attempt', j.attempt + 1, 'executionSeq', j.execution_seq + 1
  )
  from picked
  join holdfast.jobs as j on j.ctid = picked.row_id
  join holdfast.queues as q on q.project_id = $1 and q.id = j.queue_id
  where j.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobProcessing')
)
update holdfast.jobs as j
set
  status = 'claimed',
  attempt = j.attempt + 1,
  execution_seq = j.execution_seq + 1,
  worker_id = $8,
  lease_token = $9,
  claimed_at = clock_timestamp(),
  lock_expires_at = clock_timestamp() + $10::double precision * interval '1 millisecond',
  progress = null
from picked
where j.ctid = picked.row_id
returning
  j.id, j.queue_id, j.type, j.payload::text, j.priority, j.seq, j.attempt, j.max_attempts, j.execution_seq,
  j.crash_count, j.release_count, j.timeout_ms, j.retry::text, j.metadata::text, j.tags,
  extract(epoch from j.claimed_at - j.run_at)::double precision * 1000 as wait_ms,
  extract(epoch from j.created_at)::double precision * 1000 as created_at_ms,
  extract(epoch from j.claimed_at - j.created_at)::double precision * 1000 as age_ms,
  j.exception_count, j.batch_id, j.has_children, coalesce(j.payload_version, 1)::integer;

-- name: claim_jobs_within_limit
-- queued → claimed. Called by a worker for one queue with a concurrency limit, after lock_queue in the same transaction.
-- The limit counts live leases, never a stored counter that a crash could leak. A queue that is paused or has no limit
-- any more has no headroom; without the zero, LIMIT NULL would mean all of its jobs.
with headroom as materialized (
  select coalesce((
    select greatest(0, q.concurrency - (
      select count(*)
      from holdfast.jobs as j
      where j.queue_id = q.id and j.status in ('claimed', 'running')
    ))
    from holdfast.queues as q
    where q.project_id = $1 and q.id = $2 and q.paused_at is null and q.concurrency is not null
  ), 0) as free
),
picked as materialized (
  select candidate.row_id
  from (
    (
      select suspect.row_id
      from generate_series(0, 9) as lane (priority)
      cross join lateral (
        select j.ctid as row_id
        from holdfast.jobs as j
        where j.queue_id = $2 and j.priority = lane.priority
          and j.status = 'queued' and j.crash_count > 0
        and case
          when j.payload_version is null then j.type = any ($3::text[])
          else j.type || '@' || j.payload_version = any ($3::text[])
        end
        order by j.seq
        limit least($5::bigint, (select free from headroom))
        for no key update skip locked
      ) as suspect
      limit least($5::bigint, (select free from headroom))
    )
    union all
    (
      select job.row_id
      from generate_series(0, 9) as lane (priority)
      cross join lateral (
        select j.ctid as row_id
        from holdfast.jobs as j
        where j.queue_id = $2 and j.priority = lane.priority
          and j.status = 'queued' and j.crash_count = 0
        and case
          when j.payload_version is null then j.type = any ($3::text[])
          else j.type || '@' || j.payload_version = any ($3::text[])
        end
          and coalesce(j.start_deadline_at > clock_timestamp() or j.attempt > 0 or j.release_count > 0, true)
        order by j.seq
        limit least($4::bigint, (select free from headroom))
        for no key update skip locked
      ) as job
      limit least($4::bigint, (select free from headroom))
    )
  ) as candidate
  limit (select free from headroom)
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobProcessing', j.id, jsonb_build_object(
    'type', j.type, 'queue', q.name, 'attempt', j.attempt + 1, 'executionSeq', j.execution_seq + 1
  )
  from picked
  join holdfast.jobs as j on j.ctid = picked.row_id
  join holdfast.queues as q on q.project_id = $1 and q.id = j.queue_id
  where j.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobProcessing')
)
update holdfast.jobs as j
set
  status = 'claimed',
  attempt = j.attempt + 1,
  execution_seq = j.execution_seq + 1,
  worker_id = $6,
  lease_token = $7,
  claimed_at = clock_timestamp(),
  lock_expires_at = clock_timestamp() + $8::double precision * interval '1 millisecond',
  progress = null
from picked
where j.ctid = picked.row_id
returning
  j.id, j.queue_id, j.type, j.payload::text, j.priority, j.seq, j.attempt, j.max_attempts, j.execution_seq,
  j.crash_count, j.release_count, j.timeout_ms, j.retry::text, j.metadata::text, j.tags,
  extract(epoch from j.claimed_at - j.run_at)::double precision * 1000 as wait_ms,
  extract(epoch from j.created_at)::double precision * 1000 as created_at_ms,
  extract(epoch from j.claimed_at - j.created_at)::double precision * 1000 as age_ms,
  j.exception_count, j.batch_id, j.has_children, coalesce(j.payload_version, 1)::integer;

-- name: start_jobs
-- claimed → running. Called by the worker's flush for jobs that outlive it, and before a suspect's handler runs.
update holdfast.jobs as j
set
  status = 'running',
  started_at = greatest(j.claimed_at, statement_timestamp() - s.started_ago_ms * interval '1 millisecond')
from unnest($2::uuid[], $3::uuid[], $4::double precision[]) as s (id, token, started_ago_ms)
where j.project_id = $1 and j.id = s.id and j.lease_token = s.token and j.status = 'claimed'
returning j.id;

-- name: extend_leases
-- claimed, running → the same. Called by the heartbeat for the jobs that the worker says it holds.
-- A row that is being finished at this moment is skipped; one whose token differs is reported as lost.
with named as materialized (
  select n.id, n.token from unnest($2::uuid[], $3::uuid[]) as n (id, token)
),
held as materialized (
  select j.ctid as row_id
  from named
  join holdfast.jobs as j on j.project_id = $1 and j.id = named.id and j.lease_token = named.token
  for no key update of j skip locked
),
extended as (
  update holdfast.jobs as j
  set lock_expires_at = clock_timestamp() + $4::double precision * interval '1 millisecond'
  from held
  where j.ctid = held.row_id
  returning j.id
)
select
  named.id,
  extended.id is not null as extended,
  j.id is null as lost,
  coalesce(j.cancel_requested_at is not null, false) as cancel_requested
from named
left join holdfast.jobs as j on j.project_id = $1 and j.id = named.id and j.lease_token = named.token
left join extended on extended.id = named.id;

-- name: complete_jobs
-- claimed, running → completed. Called by the worker's flush; moves the row to history in the same statement.
-- A job that started and ended within one flush is written once, with both times.
with finished as materialized (
  delete from holdfast.jobs as j
  using unnest($2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[])
    as f (id, token, started_ago_ms, finished_ago_ms, result)
  where j.project_id = $1::uuid and j.id = f.id and j.lease_token = f.token
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.cancel_requested_at, j.fire_at, j.project_id, j.id,
    j.worker_id, j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count, j.release_count,
    j.generation, j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error, j.retry, j.progress,
    j.metadata, j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    f.result,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, cancel_requested_at, fire_at, project_id,
    id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, status, priority, type, payload, result, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, begun_at, greatest(begun_at, ended_at), cancel_requested_at,
    fire_at, project_id, id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count,
    generation, pending_parents, timeout_ms, 'completed', priority, type, payload, result::jsonb, last_error, retry,
    progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), project_id, id, worker_id, execution_seq,
    attempt, generation, 'completed'
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'completed', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobProcessed', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq
  )
  from finished as f
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobProcessed')
)
select id from finished;

-- name: retry_jobs
-- claimed, running → scheduled. Called by the worker's flush for failed attempts that are tried again after a backoff.
-- A job with a cancel request is not tried again: it is left for abandon_jobs.
with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    f.status, f.reason, f.error, f.delay_ms,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::text[], $8::text[],
    $9::double precision[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, status, reason, error, delay_ms)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled',
    run_at = clock_timestamp() + held.delay_ms * interval '1 millisecond',
    last_error = held.error::jsonb,
    exception_count = j.exception_count + case when held.status = 'failed' then 1 else 0 end,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error, next_delay_ms
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, status::holdfast.execution_status, reason, error::jsonb, delay_ms
  from held
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, e.event, h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'error', h.error::jsonb - 'stack' - 'fingerprint', 'nextDelayMs', h.delay_ms
  ))
  from held as h
  cross join lateral (
    values (case h.status when 'timed_out' then 'JobTimedOut' else 'JobExceptionOccurred' end)
  ) as e (event)
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (
      select from holdfast.event_subscriptions
      where project_id = $1 and event in ('JobExceptionOccurred', 'JobTimedOut')
    )
    and e.event in (select event from holdfast.event_subscriptions where project_id = $1)
)
select id from held;

-- name: fail_jobs
-- claimed, running → failed. Called by the worker's flush when the retry policy is manual: a person decides.
with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    f.status, f.reason, f.error,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::text[], $8::text[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, status, reason, error)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'failed', started_at = held.begun_at, finished_at = greatest(held.begun_at, held.ended_at),
    exception_count = j.exception_count + case when held.status = 'failed' then 1 else 0 end,
    last_error = held.error::jsonb, reason = held.reason, lease_token = null, lock_expires_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, status::holdfast.execution_status, reason, error::jsonb
  from held
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, e.event, h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'error', h.error::jsonb - 'stack' - 'fingerprint'
  ))
  from held as h
  cross join lateral (
    values (case h.status when 'timed_out' then 'JobTimedOut' else 'JobExceptionOccurred' end)
  ) as e (event)
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (
      select from holdfast.event_subscriptions
      where project_id = $1 and event in ('JobExceptionOccurred', 'JobTimedOut')
    )
    and e.event in (select event from holdfast.event_subscriptions where project_id = $1)
)
select id from held;

-- name: dead_letter_jobs
-- claimed, running → dead_letter. Called by the worker's flush after the last attempt or an error that forbids a retry.
with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    j.batch_id, j.has_children,
    f.status, f.reason, f.error,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::text[], $8::text[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, status, reason, error)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'dead_letter', started_at = held.begun_at, finished_at = greatest(held.begun_at, held.ended_at),
    exception_count = j.exception_count + case when held.status = 'failed' then 1 else 0 end,
    last_error = held.error::jsonb, reason = held.reason, lease_token = null, lock_expires_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, status::holdfast.execution_status, reason, error::jsonb
  from held
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select $1::uuid, id, 'dead_letter', batch_id, has_children
  from held
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, e.event, h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'error', h.error::jsonb - 'stack' - 'fingerprint'
  ))
  from held as h
  cross join lateral (
    values (case h.status when 'timed_out' then 'JobTimedOut' else 'JobExceptionOccurred' end), ('JobFailed')
  ) as e (event)
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (
      select from holdfast.event_subscriptions
      where project_id = $1 and event in ('JobExceptionOccurred', 'JobTimedOut', 'JobFailed')
    )
    and e.event in (select event from holdfast.event_subscriptions where project_id = $1)
)
select id from held;

-- name: release_jobs
-- claimed, running → scheduled. Called by the worker's flush when the handler asked to run later; the attempt is refunded.
with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    f.reason, f.delay_ms,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::double precision[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, reason, delay_ms)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled',
    run_at = clock_timestamp() + held.delay_ms * interval '1 millisecond',
    attempt = j.attempt - 1,
    release_count = j.release_count + 1,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, next_delay_ms
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, 'released', reason, delay_ms
  from held
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobReleased', h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'nextDelayMs', h.delay_ms
  ))
  from held as h
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobReleased')
)
select id from held;

-- name: return_jobs
-- claimed, running → queued. Called by a worker that drains or gives prefetched jobs back; the attempt is refunded.
-- The job keeps its seq, and with it its place in the line. One that has started did so in time.
with held as materialized (
  select j.id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at, j.started_at, f.reason
  from unnest($2::uuid[], $3::uuid[], $4::text[]) as f (id, token, reason)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'queued', attempt = j.attempt - 1,
    start_deadline_at = case when held.started_at is null then j.start_deadline_at end,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, greatest(clock_timestamp(), claimed_at, started_at), $1, id, worker_id, execution_seq, attempt,
    generation, 'returned', reason
  from held
)
select id from held;

-- name: abandon_jobs
-- claimed, running → cancelled. Called by the worker's flush for handlers that ended otherwise after a cancel request.
with finished as materialized (
  delete from holdfast.jobs as j
  using unnest($2::uuid[], $3::uuid[], $4::text[]) as f (id, token, error)
  where j.project_id = $1 and j.id = f.id and j.lease_token = f.token and j.cancel_requested_at is not null
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.cancel_requested_at, j.fire_at,
    j.project_id, j.id, j.worker_id, j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count,
    j.release_count, j.generation, j.pending_parents, j.timeout_ms, j.priority, j.type, j.reason, j.payload,
    j.last_error, j.retry, j.progress, j.metadata, j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    f.error,
    greatest(clock_timestamp(), j.claimed_at, j.started_at) as ended_at
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, cancel_requested_at, fire_at, project_id,
    id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at, ended_at, cancel_requested_at, fire_at, project_id, id,
    worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, 'cancelled', priority, type, coalesce(reason, 'cancelled'), payload,
    coalesce(error::jsonb, last_error), retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error
  )
  select
    clock_timestamp(), claimed_at, started_at, ended_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'cancelled', 'cancelled', error::jsonb
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq,
    'reason', coalesce(f.reason, 'cancelled')
  )
  from finished as f
  join holdfast.queues as q on q.project_id = $1 and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobCancelled')
)
select id from finished;

-- name: cancel_jobs
-- queued, scheduled, failed → cancelled. Called by a person, and by the settler for jobs whose parent died; only jobs that
-- no worker holds. The error says more than the reason's code where there is more to say.
with picked as materialized (
  select j.id, n.error
  from unnest($2::uuid[], $4::text[]) as n (id, error)
  join holdfast.jobs as j on j.project_id = $1 and j.id = n.id
  where j.status in ('queued', 'scheduled', 'failed')
  order by j.id
  for update of j
),
finished as materialized (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = $1 and j.id = picked.id
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.fire_at, j.project_id, j.id, j.worker_id,
    j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count, j.release_count, j.generation,
    j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error, j.retry, j.progress, j.metadata,
    j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    picked.error
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at,
    greatest(clock_timestamp(), claimed_at, started_at), fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, 'cancelled', priority, type, $3::text, payload,
    coalesce(error::jsonb, last_error), retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq, 'reason', $3::text
  )
  from finished as f
  join holdfast.queues as q on q.project_id = $1 and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobCancelled')
)
select id from finished;

-- name: expire_jobs
-- queued, scheduled → cancelled. Called by the promoter for jobs that had not started by their deadline, page by page.
-- Claims pass them over already. One that has started before is past its deadline for good.
with picked as materialized (
  select j.project_id, j.id
  from holdfast.jobs as j
  where j.start_deadline_at is not null and j.start_deadline_at <= clock_timestamp()
    and j.status in ('queued', 'scheduled')
    and j.attempt = 0 and j.release_count = 0 and j.crash_count = 0
  order by j.start_deadline_at
  limit $1
  for update skip locked
),
finished as materialized (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = picked.project_id and j.id = picked.id
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.fire_at, j.project_id, j.id, j.worker_id,
    j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count, j.release_count, j.generation,
    j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error, j.retry, j.progress, j.metadata,
    j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at,
    greatest(clock_timestamp(), claimed_at, started_at), fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, 'cancelled', priority, type, 'start_deadline', payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select f.project_id, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq, 'reason', 'start_deadline'
  )
  from finished as f
  join holdfast.queues as q on q.project_id = f.project_id and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = f.project_id and event = 'JobCancelled')
)
select project_id, id from finished;

-- name: request_cancel
-- claimed, running → the same. Called by a person; the worker learns of it in its next heartbeat's answer.
update holdfast.jobs as j
set cancel_requested_at = coalesce(j.cancel_requested_at, clock_timestamp()), reason = $3::text
where j.project_id = $1 and j.id = $2 and j.status in ('claimed', 'running')
returning j.id, j.worker_id;

-- name: force_cancel_jobs
-- claimed, running → cancelled. Called by the reaper for jobs whose handler ignored a cancel request for too long, or
-- whose worker vanished after one; the lease is revoked with the row.
with picked as materialized (
  select j.project_id, j.id
  from holdfast.jobs as j
  where j.status in ('claimed', 'running') and j.cancel_requested_at is not null
    and (
      j.cancel_requested_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
      or j.lock_expires_at < clock_timestamp()
    )
  limit $2
  for update skip locked
),
finished as materialized (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = picked.project_id and j.id = picked.id
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.cancel_requested_at, j.fire_at,
    j.project_id, j.id, j.worker_id, j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count,
    j.release_count, j.generation, j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error,
    j.retry, j.progress, j.metadata, j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    greatest(clock_timestamp(), j.claimed_at, j.started_at) as ended_at
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, cancel_requested_at, fire_at, project_id,
    id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at, ended_at, cancel_requested_at, fire_at, project_id, id,
    worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, 'cancelled', priority, type, 'cancel_forced', payload, last_error, retry, progress,
    metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, ended_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'cancelled', 'cancel_forced'
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select f.project_id, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq, 'reason', 'cancel_forced'
  )
  from finished as f
  join holdfast.queues as q on q.project_id = f.project_id and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = f.project_id and event = 'JobCancelled')
)
select id from finished;

-- name: reap_jobs
-- claimed, running → queued. Called by the reaper when a lease expired for the first time: refunded, counted, queued at once.
-- Right after a server start nothing is reaped for one lease, so that live workers can renew first.
with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status in ('claimed', 'running') and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count = 0
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'queued', attempt = j.attempt - 1, crash_count = j.crash_count + 1,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'lease_expired'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'lease_expired'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked;

-- name: reap_blameless_jobs
-- claimed → queued. Called by the reaper for suspects whose handler had not started: refunded, not counted.
-- A suspect's start is written before its handler runs, so a claimed suspect did not kill the worker.
with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status = 'claimed' and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count > 0
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'queued', attempt = j.attempt - 1,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'lease_expired'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'lease_expired'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked;

-- name: reap_suspect_jobs
-- running → scheduled. Called by the reaper when a lease expired for the second time: refunded, counted, after a wait.
with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status = 'running' and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count between 1 and $4::integer - 2
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled', attempt = j.attempt - 1, crash_count = j.crash_count + 1,
    run_at = clock_timestamp()
      + least($3::double precision * 2 ^ (j.crash_count - 1), 600000) * interval '1 millisecond',
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'lease_expired'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'lease_expired'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked;

-- name: reap_poison_jobs
-- running → dead_letter. Called by the reaper for a job that took its worker down as often as is allowed.
with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at, j.batch_id, j.has_children
  from holdfast.jobs as j
  where j.status = 'running' and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count >= $3::integer - 1
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'dead_letter', crash_count = j.crash_count + 1, reason = 'poison_pill',
    finished_at = greatest(clock_timestamp(), j.started_at), lease_token = null, lock_expires_at = null,
    last_error = jsonb_build_object(
      'code', 'poison_pill',
      'message', format('The worker died %s times while this job ran', j.crash_count + 1),
      'fingerprint', j.type || ':poison_pill'
    )
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'poison_pill'
  from picked
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'dead_letter', batch_id, has_children
  from picked
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobFailed', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'poison_pill',
    'error', jsonb_build_object('code', 'poison_pill')
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobFailed')
)
select project_id, id, worker_id from picked;

-- name: reap_spread_jobs
-- claimed, running → scheduled. Called by the reaper when many workers vanished at once (a failed host, a network cut):
-- refunded, not counted, spread over a while so that the rest is not overrun.
-- A job is forgiven three times: otherwise a few poison pills, each of which takes its worker down, would pass for a
-- failed host for ever. One that has started did so in time.
with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status in ('claimed', 'running') and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null
    and 3 > (
      select count(*)
      from holdfast.job_executions as e
      where e.project_id = j.project_id and e.job_id = j.id and e.generation = j.generation
        and e.reason = 'workers_lost'
    )
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled', attempt = j.attempt - 1,
    start_deadline_at = case when picked.started_at is null then j.start_deadline_at end,
    run_at = clock_timestamp() + random() * $3::double precision * interval '1 millisecond',
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'workers_lost'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'workers_lost'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked;

-- name: retry_job
-- failed → queued. Called by a person for a job under the manual retry policy; counts start again.
-- The deadline of its start was for the first one.
with moved as (
  update holdfast.jobs as j
  set
    status = 'queued', seq = nextval('holdfast.job_seq'), run_at = clock_timestamp(),
    attempt = 0, crash_count = 0, release_count = 0, exception_count = 0, generation = j.generation + 1, reason = null,
    start_deadline_at = null, finished_at = null, worker_id = null, claimed_at = null, started_at = null
  where j.project_id = $1 and j.id = $2 and j.status = 'failed'
  returning j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', m.id, jsonb_build_object(
    'type', m.type, 'queue', q.name, 'attempt', m.attempt, 'executionSeq', m.execution_seq
  )
  from moved as m
  join holdfast.queues as q on q.project_id = $1 and q.id = m.queue_id
  where m.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
select id, queue_id from moved;

-- name: run_job_now
-- scheduled → queued. Called by a person who does not want to wait; a job that waits for parents cannot be hurried.
with moved as (
  update holdfast.jobs as j
  set status = 'queued', seq = nextval('holdfast.job_seq'), run_at = clock_timestamp()
  where j.project_id = $1 and j.id = $2 and j.status = 'scheduled' and j.pending_parents = 0
  returning j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', m.id, jsonb_build_object(
    'type', m.type, 'queue', q.name, 'attempt', m.attempt, 'executionSeq', m.execution_seq
  )
  from moved as m
  join holdfast.queues as q on q.project_id = $1 and q.id = m.queue_id
  where m.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
select id, queue_id from moved;

-- name: replay_job
-- dead_letter → queued. Called by a person; the id stays, a generation is added, counts start again.
-- The deadline of its start was for the first one.
with moved as (
  update holdfast.jobs as j
  set
    status = 'queued', seq = nextval('holdfast.job_seq'), run_at = clock_timestamp(),
    attempt = 0, crash_count = 0, release_count = 0, exception_count = 0, generation = j.generation + 1, reason = null,
    start_deadline_at = null, finished_at = null, worker_id = null, claimed_at = null, started_at = null
  where j.project_id = $1 and j.id = $2 and j.status = 'dead_letter'
  returning j.id, j.queue_id, j.batch_id, j.has_children, j.type, j.attempt, j.execution_seq, j.event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', m.id, jsonb_build_object(
    'type', m.type, 'queue', q.name, 'attempt', m.attempt, 'executionSeq', m.execution_seq
  )
  from moved as m
  join holdfast.queues as q on q.project_id = $1 and q.id = m.queue_id
  where m.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
select id, queue_id, batch_id, has_children from moved;

-- name: revive_jobs
-- cancelled → scheduled. Called by a replay for the jobs that its death had cancelled; they wait for their parents again.
with ended as materialized (
  delete from holdfast.job_history as h
  using unnest($2::uuid[], $3::integer[]) as n (id, parent_count)
  where h.project_id = $1 and h.id = n.id and h.status = 'cancelled' and h.reason = 'parent_failed'
  returning h.*, n.parent_count
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobScheduled', e.id, jsonb_build_object(
    'type', e.type, 'queue', q.name, 'attempt', 0, 'executionSeq', e.execution_seq, 'reason', 'parents_pending'
  )
  from ended as e
  join holdfast.queues as q on q.project_id = $1 and q.id = e.queue_id
  where e.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobScheduled')
)
insert into holdfast.jobs (
  seq, queue_id, run_at, created_at, fire_at, project_id, id, schedule_id, max_attempts, execution_seq, generation,
  pending_parents, timeout_ms, status, priority, type, payload, retry, metadata, tags,
  start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version
)
select
  seq, queue_id, 'infinity', created_at, fire_at, project_id, id, schedule_id, max_attempts, execution_seq, generation + 1,
  parent_count, timeout_ms, 'scheduled', priority, type, payload, retry, metadata, tags,
  start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version
from ended
returning id, batch_id, has_children;

-- name: retire_dead_letters
-- dead_letter → history, as dead_letter. Called by the pruner when retention has passed, page by page.
with picked as materialized (
  select j.project_id, j.id
  from holdfast.jobs as j
  where j.status = 'dead_letter'
    and j.finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for update skip locked
),
retired as (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = picked.project_id and j.id = picked.id
  returning j.*
),
archived as (
  insert into holdfast.job_history select * from retired
)
select id from retired;
