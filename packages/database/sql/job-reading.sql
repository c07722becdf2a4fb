-- Jobs, their runs and logs, for people to read. Nothing here is on the way of a claim.

-- name: read_job
-- One job with everything, wherever it is kept.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version, j.payload, j.result, j.metadata
from holdfast.all_jobs as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
where j.project_id = $1 and j.id = $2;

-- name: look_up_job_status
select j.status from holdfast.all_jobs as j where j.project_id = $1 and j.id = $2;

-- name: find_known_jobs
-- Which of the ids belong to jobs, ended or not: both at one moment, since a job that is just ending is always in one of
-- the tables. Whoever looked into history alone could find nothing, and then insert the job anew after its end.
select k.id, k.status::text as status
from unnest($2::uuid[]) as n (id)
cross join lateral (
  select j.id, j.status from holdfast.jobs as j where j.project_id = $1::uuid and j.id = n.id
  union all
  select h.id, h.status from holdfast.job_history as h where h.project_id = $1::uuid and h.id = n.id
  limit 1
) as k;

-- name: list_jobs
-- Newest first, a page before the given id. Ids are UUIDv7, so their order is that of creation.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
  union all
  (
    select j.*
    from holdfast.job_history as j
    where j.project_id = $1
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3;

-- name: list_jobs_of_batch
-- As list_jobs, for one batch, chain or graph; its callbacks are among them.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1 and j.batch_id = $12::uuid
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
  union all
  (
    select j.*
    from holdfast.job_history as j
    where j.project_id = $1 and j.batch_id = $12::uuid
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3;

-- name: list_jobs_of_key
-- As list_jobs, for the jobs that hold or held a unique key of this text, in whichever scope.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1 and j.unique_lock is not null and j.unique_lock ->> 'key' = $12::text
      and ($13::uuid is null or j.batch_id = $13::uuid)
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
  union all
  (
    select j.*
    from holdfast.job_history as j
    where j.project_id = $1 and j.unique_lock is not null and j.unique_lock ->> 'key' = $12::text
      and ($13::uuid is null or j.batch_id = $13::uuid)
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3;

-- name: list_live_jobs
-- As list_jobs, for statuses that are never in the history.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3;

-- name: list_leased_jobs
-- As list_jobs, for statuses under a lease: served by their small partial index.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and j.status in ('claimed', 'running')
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3;

-- name: list_resting_jobs
-- As list_jobs, for statuses in which a person decides: served by their partial index.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and j.status in ('failed', 'dead_letter')
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3;

-- name: list_dead_letters
-- By the time of their end, newest first, a page before the given one. $3 is exact to the microsecond, as text.
select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version, j.finished_at::text as finished_at_text
from (
  select j.*
  from holdfast.jobs as j
  where j.project_id = $1 and j.status in ('failed', 'dead_letter') and j.status = 'dead_letter'
    and ($3::text is null or (j.finished_at, j.id) < ($3::text::timestamptz, $4::uuid))
    and ($5::bigint is null or j.queue_id = $5::bigint)
    and ($6::text is null or j.type = $6::text)
    and ($7::text is null or j.last_error ->> 'fingerprint' = $7::text)
  order by j.finished_at desc, j.id desc
  limit $2
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.finished_at desc, j.id desc;

-- name: list_dead_letter_groups
-- Dead letters whose last errors are alike, the largest group first.
select
  j.last_error ->> 'fingerprint' as fingerprint, j.type, q.name as queue,
  (array_agg(j.last_error ->> 'code' order by j.finished_at desc))[1] as code,
  (array_agg(j.last_error ->> 'message' order by j.finished_at desc))[1] as message,
  count(*)::integer as job_count, min(j.finished_at) as first_seen_at, max(j.finished_at) as last_seen_at,
  (array_agg(j.id order by j.finished_at desc))[1] as sample_job_id
from holdfast.jobs as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
where j.project_id = $1 and j.status in ('failed', 'dead_letter') and j.status = 'dead_letter'
  and ($2::bigint is null or j.queue_id = $2::bigint)
  and ($3::text is null or j.type = $3::text)
group by 1, 2, 3
order by job_count desc, last_seen_at desc
limit $4;

-- name: list_executions
-- Every run of a job, the open one too, oldest first.
select
  e.execution_seq, e.attempt, e.generation, e.status, e.worker_id, e.claimed_at, e.started_at, e.finished_at,
  e.lease_lost_at, e.next_delay_ms, e.reason, e.error,
  extract(epoch from e.finished_at - e.started_at)::double precision * 1000 as duration_ms
from holdfast.all_executions as e
where e.project_id = $1 and e.job_id = $2
order by e.execution_seq;

-- name: list_job_logs
-- Oldest first, a page after the given (execution, line).
select l.execution_seq, l.line, l.logged_at, l.level, l.message, l.fields
from holdfast.job_logs as l
where l.project_id = $1 and l.job_id = $2
  and ($3::integer is null or l.execution_seq = $3::integer)
  and (l.execution_seq, l.line) > ($4::integer, $5::integer)
order by l.execution_seq, l.line
limit $6;
