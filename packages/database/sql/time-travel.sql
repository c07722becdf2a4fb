-- For tests that own their database: time passes, and what is left to do is counted. Nothing else may call these.

-- name: pass_time
-- Moves what is stored of the past and the future back, which is as if the clock had moved on. What is bound to the
-- calendar stays: the instants of schedules, and what has been recorded of ended jobs and executions.
with passed as (
  select $1::double precision * interval '1 millisecond' as t
),
moved_jobs as (
  update holdfast.jobs as j
  set
    run_at = j.run_at - p.t,
    created_at = j.created_at - p.t,
    claimed_at = j.claimed_at - p.t,
    started_at = j.started_at - p.t,
    finished_at = j.finished_at - p.t,
    lock_expires_at = j.lock_expires_at - p.t,
    cancel_requested_at = j.cancel_requested_at - p.t,
    start_deadline_at = j.start_deadline_at - p.t,
    retry = case
      when j.retry ->> 'retryUntil' is null then j.retry
      else jsonb_set(j.retry, '{retryUntil}', to_jsonb(to_char(
        ((j.retry ->> 'retryUntil')::timestamptz - p.t) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      )))
    end
  from passed as p
),
moved_locks as (
  update holdfast.unique_locks as l
  set expires_at = l.expires_at - p.t, acquired_at = l.acquired_at - p.t
  from passed as p
),
moved_pauses as (
  update holdfast.queues as q
  set paused_at = q.paused_at - p.t, paused_until = q.paused_until - p.t
  from passed as p
  where q.paused_at is not null
),
moved_workers as (
  update holdfast.workers as w
  set started_at = w.started_at - p.t, heartbeat_at = w.heartbeat_at - p.t
  from passed as p
)
update holdfast.idempotency_keys as k
set created_at = k.created_at - p.t
from passed as p;

-- name: read_work_left
-- What keeps a worker of these types, named as for a claim, from being idle, in one snapshot: jobs that it could claim or holds, ends whose
-- consequences are open, and events that were not dispatched.
select
  (
    select count(*)::integer
    from holdfast.jobs as j
    join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
    where j.project_id = $1
      and case
        when j.payload_version is null then j.type = any ($2::text[])
        else j.type || '@' || j.payload_version = any ($2::text[])
      end
      and (
        j.worker_id = $3::uuid and j.status in ('claimed', 'running')
        or j.status = 'queued' and q.paused_at is null
        and coalesce(j.start_deadline_at > clock_timestamp() or j.attempt > 0 or j.release_count > 0, true)
      )
  ) as job_count,
  exists (select from holdfast.job_endings) as has_endings,
  exists (select from holdfast.events where position is null) as has_events;

-- name: list_stored_jobs
-- Every job of a project, ended ones too, oldest first; or those with the given ids.
select
  j.id, j.type, q.name as queue, j.status, j.payload, j.priority, j.tags, j.metadata, j.created_at, j.batch_id,
  nullif(j.run_at, 'infinity') as run_at,
  extract(epoch from nullif(j.run_at, 'infinity') - j.created_at)::double precision * 1000 as delay_ms,
  j.unique_lock ->> 'key' as unique_key, coalesce(j.payload_version, 1)::integer as payload_version
from holdfast.all_jobs as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
where j.project_id = $1 and ($2::uuid[] is null or j.id = any ($2::uuid[]))
order by j.created_at, j.id;
