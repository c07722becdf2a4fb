-- Worker processes: who is there, how they are, what people ask of them.

-- name: register_worker
with registered as (
  insert into holdfast.workers (
    project_id, id, host, pid, build, labels, queues, types, slots, lease_ms
  )
  values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10)
  returning id, host, pid
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'WorkerStarted', jsonb_build_object('workerId', r.id, 'host', r.host, 'pid', r.pid)
  from registered as r
  where exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'WorkerStarted')
)
select id from registered;

-- name: beat_worker
-- Says that the worker lives and how it is; answers what a person asks of it. No row: the worker must register again.
with announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'WorkerStopping', jsonb_build_object('workerId', w.id, 'host', w.host, 'pid', w.pid)
  from holdfast.workers as w
  where $3::text = 'stopping' and w.project_id = $1 and w.id = $2 and w.status <> 'stopping'
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'WorkerStopping')
)
update holdfast.workers as w
set
  heartbeat_at = clock_timestamp(), status = $3, busy_slots = $4, stuck_slots = $5, rss_bytes = $6, loop_lag_ms = $7,
  requested_status = case when w.requested_status = $3 then null else w.requested_status end, lost_at = null
where w.project_id = $1 and w.id = $2
returning w.requested_status;

-- name: request_worker_status
update holdfast.workers as w
set requested_status = $3
where w.project_id = $1 and w.id = $2 and w.status in ('active', 'quiet')
returning w.id;

-- name: mark_worker_stopped
-- A worker that stops at once has not said before that it is stopping.
with announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'WorkerStopping', jsonb_build_object('workerId', w.id, 'host', w.host, 'pid', w.pid)
  from holdfast.workers as w
  where w.project_id = $1 and w.id = $2 and w.status not in ('stopping', 'stopped')
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'WorkerStopping')
)
update holdfast.workers as w
set status = 'stopped', busy_slots = 0, requested_status = null, heartbeat_at = clock_timestamp()
where w.project_id = $1 and w.id = $2;

-- name: mark_lost_workers
-- Notes which workers fell silent, each once until it is heard of again. Right after a server start none did.
with lost as (
  update holdfast.workers as w
  set lost_at = clock_timestamp()
  where w.lost_at is null and w.status <> 'stopped'
    and w.heartbeat_at < clock_timestamp() - w.lease_ms * interval '1 millisecond'
    and pg_postmaster_start_time() < clock_timestamp() - w.lease_ms * interval '1 millisecond'
  returning w.project_id, w.id, w.host, w.pid
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select l.project_id, 'WorkerLost', jsonb_build_object('workerId', l.id, 'host', l.host, 'pid', l.pid)
  from lost as l
  where exists (select from holdfast.event_subscriptions where project_id = l.project_id and event = 'WorkerLost')
)
select id from lost;

-- name: count_lost_workers
-- How many workers fell silent within the last two leases, and how many were there in that time; clean stops count as neither.
select
  count(*) filter (
    where w.heartbeat_at < clock_timestamp() - w.lease_ms * interval '1 millisecond'
  )::integer as lost_count,
  count(*)::integer as worker_count
from holdfast.workers as w
where w.status <> 'stopped'
  and w.heartbeat_at > clock_timestamp() - 2 * w.lease_ms * interval '1 millisecond' - interval '10 seconds';

-- name: forget_workers
-- Stopped and lost workers stay to be seen for a while.
delete from holdfast.workers as w
where w.heartbeat_at < clock_timestamp() - $1::double precision * interval '1 millisecond';
