-- Schedules and their fires.

-- name: insert_schedule
insert into holdfast.schedules (
  project_id, id, name, cron, every_ms, anchor_at, timezone, job, catch_up, catch_up_window_ms, overlap, next_fire_at
)
values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12)
on conflict (project_id, name) do nothing
returning id;

-- name: update_schedule
-- Replaces every setting of the schedule; $12 is the expected revision, if any.
update holdfast.schedules as s
set
  cron = $3, every_ms = $4, anchor_at = $5, timezone = $6, job = $7::jsonb, catch_up = $8, catch_up_window_ms = $9,
  overlap = $10, next_fire_at = $11, updated_at = clock_timestamp(), revision = s.revision + 1
where s.project_id = $1 and s.id = $2 and ($12::bigint is null or s.revision = $12::bigint)
returning s.id, s.revision;

-- name: delete_schedule
delete from holdfast.schedules where project_id = $1 and id = $2 returning id;

-- name: pause_schedule
update holdfast.schedules as s
set
  paused_at = coalesce(s.paused_at, clock_timestamp()), paused_by = $3, paused_reason = $4,
  updated_at = clock_timestamp(), revision = s.revision + 1
where s.project_id = $1 and s.id = $2
returning s.id;

-- name: resume_schedule
-- $3 is the first instant after the resume; instants during the pause are not made up for.
update holdfast.schedules as s
set
  paused_at = null, paused_by = null, paused_reason = null, next_fire_at = $3,
  updated_at = clock_timestamp(), revision = s.revision + 1
where s.project_id = $1 and s.id = $2
returning s.id;

-- name: read_schedule
select
  s.id, s.name, s.cron, s.every_ms, s.anchor_at, s.timezone, s.job, s.catch_up, s.catch_up_window_ms, s.overlap,
  s.paused_at, s.paused_by, s.paused_reason, s.next_fire_at, s.created_at, s.updated_at, s.revision,
  f.fire_at as last_fire_at, f.outcome as last_outcome, f.job_id as last_job_id
from holdfast.schedules as s
left join lateral (
  select fire_at, outcome, job_id
  from holdfast.schedule_fires
  where project_id = s.project_id and schedule_id = s.id
  order by fire_at desc
  limit 1
) as f on true
where s.project_id = $1 and s.id = $2;

-- name: list_schedules
-- By name, a page after the given one.
select
  s.id, s.name, s.cron, s.every_ms, s.anchor_at, s.timezone, s.job, s.catch_up, s.catch_up_window_ms, s.overlap,
  s.paused_at, s.paused_by, s.paused_reason, s.next_fire_at, s.created_at, s.updated_at, s.revision,
  f.fire_at as last_fire_at, f.outcome as last_outcome, f.job_id as last_job_id
from holdfast.schedules as s
left join lateral (
  select fire_at, outcome, job_id
  from holdfast.schedule_fires
  where project_id = s.project_id and schedule_id = s.id
  order by fire_at desc
  limit 1
) as f on true
where s.project_id = $1 and ($2::text is null or s.name > $2::text)
order by s.name
limit $3;

-- name: list_fires
-- Newest first, a page before the given instant.
select f.fire_at, f.outcome, f.job_id, f.recorded_at
from holdfast.schedule_fires as f
where f.project_id = $1 and f.schedule_id = $2 and ($3::timestamptz is null or f.fire_at < $3::timestamptz)
order by f.fire_at desc
limit $4;

-- name: lock_due_schedules
-- The schedules that are due, locked for this transaction; those that another scheduler handles are skipped.
-- Paused ones are among them: their instants are recorded as skipped. The clock may be ahead by some milliseconds, for
-- tests that travel in time.
select
  s.project_id, s.id, s.name, s.cron, s.every_ms, s.anchor_at, s.timezone, s.job, s.catch_up, s.catch_up_window_ms,
  s.overlap, s.next_fire_at, s.paused_at is not null as paused,
  clock_timestamp() + $2::double precision * interval '1 millisecond' as now
from holdfast.schedules as s
where s.next_fire_at <= clock_timestamp() + $2::double precision * interval '1 millisecond'
order by s.next_fire_at
limit $1
for no key update skip locked;

-- name: has_unfinished_job
-- Whether a job of the schedule still waits or runs; dead letters and resting failures do not hold the next one up.
select exists (
  select 1
  from holdfast.jobs as j
  where j.schedule_id = $2 and j.project_id = $1 and j.status in ('queued', 'scheduled', 'claimed', 'running')
) as unfinished;

-- name: record_fire
-- The key makes each instant of a schedule happen once, whoever else tries; no row back means that it has happened.
with recorded as (
  insert into holdfast.schedule_fires (project_id, schedule_id, fire_at, outcome, job_id)
  values ($1, $2, $3, $4, $5)
  on conflict do nothing
  returning fire_at, outcome, job_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'ScheduleFired', r.job_id, jsonb_build_object(
    'schedule', s.name, 'scheduleId', s.id, 'fireAt', r.fire_at, 'reason', r.outcome
  )
  from recorded as r
  join holdfast.schedules as s on s.project_id = $1 and s.id = $2
  where r.job_id is not null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'ScheduleFired')
)
select fire_at from recorded;

-- name: record_unfired
-- Records instants that no job is made for, all with one outcome. Those that were missed together make one event.
with recorded as (
  insert into holdfast.schedule_fires (project_id, schedule_id, fire_at, outcome)
  select $1::uuid, $2::uuid, n.fire_at, $4::text
  from unnest($3::timestamptz[]) as n (fire_at)
  on conflict do nothing
  returning fire_at
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select $1::uuid, 'ScheduleMissed', jsonb_build_object(
    'schedule', s.name, 'scheduleId', s.id, 'count', r.count, 'firstFireAt', r.first_at, 'lastFireAt', r.last_at
  )
  from (select count(*) as count, min(fire_at) as first_at, max(fire_at) as last_at from recorded) as r
  join holdfast.schedules as s on s.project_id = $1::uuid and s.id = $2::uuid
  where $4::text = 'missed' and r.count > 0
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'ScheduleMissed')
)
select fire_at from recorded;

-- name: advance_schedule
update holdfast.schedules set next_fire_at = $3 where project_id = $1 and id = $2;

-- name: next_fire_in
-- Milliseconds until the next due schedule; null when there is none.
select extract(epoch from min(s.next_fire_at) - clock_timestamp())::double precision * 1000 as due_in_ms
from holdfast.schedules as s;

-- name: forget_fires
delete from holdfast.schedule_fires as f
using (
  select project_id, schedule_id, fire_at
  from holdfast.schedule_fires
  where recorded_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where f.project_id = old.project_id and f.schedule_id = old.schedule_id and f.fire_at = old.fire_at
returning f.fire_at;
