-- Queues: made on first use, paused and limited by people.

-- name: find_project
select id, slug, name, created_at from holdfast.projects where slug = $1;

-- name: ensure_queues
-- Makes the queues that do not exist yet and revives deleted ones; answers every one of them.
-- Those that exist are only read, so that no enqueue waits for a claim or a pause. One that another session makes at
-- the same time is answered by neither part; it is there for the next call.
with wanted as (
  select distinct name from unnest($2::text[]) as w (name)
),
made as (
  insert into holdfast.queues (project_id, name)
  select $1::uuid, w.name
  from wanted as w
  where not exists (
    select 1
    from holdfast.queues as q
    where q.project_id = $1::uuid and q.name = w.name and q.deleted_at is null
  )
  order by w.name
  on conflict (project_id, name) do update
  set deleted_at = null, updated_at = clock_timestamp(), revision = holdfast.queues.revision + 1
  where holdfast.queues.deleted_at is not null
  returning id, name, job_defaults
)
select id, name, job_defaults from made
union
select q.id, q.name, q.job_defaults
from holdfast.queues as q
join wanted on wanted.name = q.name
where q.project_id = $1::uuid and q.deleted_at is null;

-- name: find_queues
-- Those of the queues that exist; makes none, and waits for nobody. All as text, since it runs in transactions of
-- other libraries too.
select q.id::text as id, q.name, q.job_defaults::text as job_defaults
from holdfast.queues as q
where q.project_id = $1::uuid and q.name = any ($2::text[]) and q.deleted_at is null;

-- name: list_claimable_queues
-- What a worker needs to know of the queues that it serves. A deleted queue with jobs in it is served to its end.
select q.id, q.name, q.concurrency, q.paused_at is not null as paused
from holdfast.queues as q
where q.project_id = $1 and ($2::text[] is null or q.name = any ($2::text[]))
  and (
    q.deleted_at is null
    or exists (select 1 from holdfast.jobs as j where j.queue_id = q.id and j.status = 'queued')
  )
order by q.id;

-- name: lock_queue
-- Serialises the claims of a queue with a limit; the claim that follows in the transaction sees every claim before it.
select id from holdfast.queues where project_id = $1 and id = $2 for no key update;

-- name: create_queue
insert into holdfast.queues (project_id, name, concurrency, job_defaults)
values ($1, $2, $3, coalesce($4::jsonb, '{}'))
on conflict (project_id, name) do update
set
  concurrency = excluded.concurrency, job_defaults = excluded.job_defaults, deleted_at = null,
  updated_at = clock_timestamp(), revision = holdfast.queues.revision + 1
where holdfast.queues.deleted_at is not null
returning id;

-- name: update_queue
-- $3 and $5 say whether the limit and the defaults are to be changed; $7 is the expected revision, if any.
update holdfast.queues as q
set
  concurrency = case when $3::boolean then $4::integer else q.concurrency end,
  job_defaults = case when $5::boolean then $6::jsonb else q.job_defaults end,
  updated_at = clock_timestamp(),
  revision = q.revision + 1
where q.project_id = $1 and q.name = $2 and q.deleted_at is null
  and ($7::bigint is null or q.revision = $7::bigint)
returning q.id, q.revision;

-- name: pause_queue
-- Waits for the claims of limited queues through the row; a claim of an unlimited queue that had begun may still end.
with paused as (
  update holdfast.queues as q
  set
    paused_at = coalesce(q.paused_at, clock_timestamp()), paused_by = $3, paused_reason = $4, paused_until = $5,
    updated_at = clock_timestamp(), revision = q.revision + 1
  where q.project_id = $1 and q.name = $2 and q.deleted_at is null
  returning q.id, q.name, q.paused_by, q.paused_reason
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'QueuePaused', jsonb_strip_nulls(jsonb_build_object(
    'queue', p.name, 'by', p.paused_by, 'reason', p.paused_reason
  ))
  from paused as p
  where exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'QueuePaused')
)
select id from paused;

-- name: resume_queue
with resumed as (
  update holdfast.queues as q
  set
    paused_at = null, paused_by = null, paused_reason = null, paused_until = null,
    updated_at = clock_timestamp(), revision = q.revision + 1
  where q.project_id = $1 and q.name = $2 and q.deleted_at is null
  returning q.id
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'QueueResumed', jsonb_build_object('queue', before.name)
  from resumed as r
  join holdfast.queues as before on before.project_id = $1 and before.id = r.id
  where before.paused_at is not null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'QueueResumed')
)
select id from resumed;

-- name: resume_expired_pauses
-- Called by the promoter: a pause with an end is over at its end.
with resumed as (
  update holdfast.queues as q
  set
    paused_at = null, paused_by = null, paused_reason = null, paused_until = null,
    updated_at = clock_timestamp(), revision = q.revision + 1
  where q.paused_until <= clock_timestamp()
  returning q.project_id, q.id, q.name
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select r.project_id, 'QueueResumed', jsonb_build_object('queue', r.name, 'reason', 'pause_ended')
  from resumed as r
  where exists (
    select from holdfast.event_subscriptions where project_id = r.project_id and event = 'QueueResumed'
  )
)
select project_id, id as queue_id from resumed;

-- name: delete_queue
-- Marks the queue as deleted when no job is in it; the row stays, so that a late enqueue finds its queue again.
-- Its pause ends with it: a queue of the same name begins open.
update holdfast.queues as q
set
  deleted_at = clock_timestamp(),
  paused_at = null, paused_by = null, paused_reason = null, paused_until = null,
  updated_at = clock_timestamp(), revision = q.revision + 1
where q.project_id = $1 and q.name = $2 and q.deleted_at is null
  and not exists (select 1 from holdfast.jobs as j where j.project_id = $1 and j.queue_id = q.id)
returning q.id;

-- name: begin_purge
-- As text, so that nothing of the instant is lost on the way.
select clock_timestamp()::text as begun_at;

-- name: list_purgeable_jobs
-- The jobs that a purge of the queue cancels next: queued and scheduled ones that were there when it began ($4), a page
-- at a time.
select j.id
from holdfast.jobs as j
where j.project_id = $1 and j.queue_id = $2 and j.status in ('queued', 'scheduled') and j.created_at <= $4::timestamptz
order by j.id
limit $3;
