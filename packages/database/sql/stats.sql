-- Counts and figures for people: from the small live indexes and the rollups by the minute, never from the history.

-- name: list_queues
-- Queues with their counts, by name, a page after the given one; or the one that is named.
-- The first job in line stands for the oldest wait; each status is counted through its own partial index.
select
  q.id, q.name, q.concurrency, q.job_defaults, q.paused_at, q.paused_by, q.paused_reason, q.paused_until,
  q.created_at, q.updated_at, q.revision,
  (select count(*) from holdfast.jobs as j where j.queue_id = q.id and j.status = 'queued')::integer as queued,
  (
    select count(*) from holdfast.jobs as j
    where j.queue_id = q.id and j.status in ('claimed', 'running') and j.status = 'claimed'
  )::integer as claimed,
  (
    select count(*) from holdfast.jobs as j
    where j.queue_id = q.id and j.status in ('claimed', 'running') and j.status = 'running'
  )::integer as running,
  coalesce(s.scheduled, 0) as scheduled, coalesce(r.failed, 0) as failed, coalesce(r.dead_letter, 0) as dead_letter,
  extract(epoch from clock_timestamp() - head.run_at)::double precision * 1000 as oldest_wait_ms,
  head.type as head_type, coalesce(head.payload_version, 1)::integer as head_version
from holdfast.queues as q
left join lateral (
  select j.run_at, j.type, j.payload_version
  from holdfast.jobs as j
  where j.queue_id = q.id and j.status = 'queued'
  order by j.priority, j.seq
  limit 1
) as head on true
left join (
  select j.queue_id, count(*)::integer as scheduled
  from holdfast.jobs as j
  where j.project_id = $1 and j.status = 'scheduled'
  group by j.queue_id
) as s on s.queue_id = q.id
left join (
  select
    j.queue_id,
    (count(*) filter (where j.status = 'failed'))::integer as failed,
    (count(*) filter (where j.status = 'dead_letter'))::integer as dead_letter
  from holdfast.jobs as j
  where j.project_id = $1 and j.status in ('failed', 'dead_letter')
  group by j.queue_id
) as r on r.queue_id = q.id
where q.project_id = $1 and q.deleted_at is null
  and ($2::text is null or q.name > $2::text)
  and ($4::text is null or q.name = $4::text)
order by q.name
limit $3;

-- name: find_queue
select q.id, q.revision
from holdfast.queues as q
where q.project_id = $1 and q.name = $2 and q.deleted_at is null;

-- name: look_up_queue
-- Also a deleted one: the jobs that ended in it are still there.
select q.id from holdfast.queues as q where q.project_id = $1 and q.name = $2;

-- name: count_leased_jobs
select count(*)::integer as job_count
from holdfast.jobs as j
where j.queue_id = $1 and j.status in ('claimed', 'running');

-- name: read_queue_rates
-- What ended in the last $2 milliseconds, by queue.
select
  s.queue_id, sum(s.completed_count)::integer as completed, sum(s.failed_count)::integer as failed,
  sum(s.dead_letter_count)::integer as dead_lettered, holdfast.sum_counts(s.wait_buckets) as wait_buckets,
  holdfast.sum_counts(s.run_buckets) as run_buckets
from holdfast.stats_minutely as s
where s.project_id = $1 and s.minute > clock_timestamp() - $2::double precision * interval '1 millisecond'
group by s.queue_id;

-- name: read_timeseries
-- What ended in each step of $4 milliseconds from $2 (included) to $3 (not included); steps without rows are left out.
select
  date_bin($4::double precision * interval '1 millisecond', s.minute, $2::timestamptz) as at,
  sum(s.completed_count)::integer as completed, sum(s.failed_count)::integer as failed,
  sum(s.dead_letter_count)::integer as dead_lettered, sum(s.cancelled_count)::integer as cancelled,
  holdfast.sum_counts(s.wait_buckets) as wait_buckets, holdfast.sum_counts(s.run_buckets) as run_buckets
from holdfast.stats_minutely as s
where s.project_id = $1 and s.minute >= $2::timestamptz and s.minute < $3::timestamptz
  and ($5::bigint is null or s.queue_id = $5::bigint)
group by 1
order by 1;

-- name: list_workers
-- Workers that run or have fallen silent, with the jobs that they hold. Clean stops are left out.
select
  w.id, w.host, w.pid, w.build, w.labels, w.queues, w.types, w.slots, w.status, w.requested_status, w.rss_bytes,
  w.loop_lag_ms, w.started_at, w.heartbeat_at,
  w.heartbeat_at < clock_timestamp() - w.lease_ms * interval '1 millisecond' as lost,
  array(
    select j.id
    from holdfast.jobs as j
    where j.project_id = $1 and j.worker_id = w.id and j.status in ('claimed', 'running')
    order by j.claimed_at, j.id
    limit 1000
  ) as running
from holdfast.workers as w
where w.project_id = $1 and w.status <> 'stopped' and ($2::uuid is null or w.id = $2::uuid)
  and w.heartbeat_at > clock_timestamp() - interval '1 hour'
order by w.started_at, w.id;

-- name: count_missed_fires
-- Instants of the last day that no job was made for, by schedule.
select s.name, count(*)::integer as fire_count
from holdfast.schedule_fires as f
join holdfast.schedules as s on s.project_id = f.project_id and s.id = f.schedule_id
where f.project_id = $1 and f.outcome = 'missed' and f.recorded_at > clock_timestamp() - interval '1 day'
group by s.name
order by s.name;

-- name: read_clock
select clock_timestamp() as now;

-- name: read_schema_version
select coalesce(max(version), 0)::integer as version from holdfast.schema_migrations;
