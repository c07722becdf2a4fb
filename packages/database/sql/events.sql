-- The outbox: what happened, who wants to hear of it, and the order in which it is told.

-- name: subscribe_event
-- One subscription for an event and a job type; subscribing again replaces the template of the job.
insert into holdfast.event_subscriptions as s (project_id, id, event, job_type, job)
values ($1::uuid, holdfast.uuid_v7(), $2::text, $3::text, $4::jsonb)
on conflict (project_id, event, job_type) do update set job = excluded.job
returning s.id, s.event, s.job, s.created_at;

-- name: unsubscribe_event
delete from holdfast.event_subscriptions where project_id = $1 and id = $2 returning id;

-- name: list_event_subscriptions
-- By id, and so by age, a page after the one with the given id.
select s.id, s.event, s.job, s.created_at
from holdfast.event_subscriptions as s
where s.project_id = $1 and ($2::uuid is null or s.id > $2::uuid)
order by s.id
limit $3;

-- name: find_event_subscriptions
-- Who subscribed to these events; job is empty for those who only read the outbox. As text, since it runs in transactions
-- of other libraries too.
select s.event, s.job::text as job
from holdfast.event_subscriptions as s
where s.project_id = $1::uuid and s.event = any ($2::text[])
order by s.id;

-- name: insert_events
-- Events of the application; their listeners' jobs are enqueued in the same transaction. One that is there already was
-- emitted by an earlier call, with its jobs.
insert into holdfast.events (project_id, id, event, data)
select $1::uuid, n.id, n.event, n.data::jsonb
from unnest($2::uuid[], $3::text[], $4::text[]) as n (id, event, data)
on conflict (project_id, id) where job_id is null do nothing
returning id, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at;

-- name: announce_events
-- Events of Holdfast's own that belong to no statement of a life cycle; nothing where nobody subscribed.
insert into holdfast.events (project_id, event, job_id, data)
select $1::uuid, n.event, n.job_id, n.data::jsonb
from unnest($2::text[], $3::uuid[], $4::text[]) as n (event, job_id, data)
where n.event in (select event from holdfast.event_subscriptions where project_id = $1::uuid);

-- name: read_outbox_state
-- Whether there is anything to dispatch, and whether there may be soon.
select
  exists (select from holdfast.events as e where e.position is null) as pending,
  exists (select from holdfast.event_subscriptions) as subscribed;

-- name: lock_dispatch
-- One dispatcher at a time. The lock ends after its transaction has become visible, so that whoever gets it next sees it
-- all, and numbers become visible in their own order.
select pg_try_advisory_xact_lock(hashtextextended('holdfast.events dispatch', 0)) as locked;

-- name: number_events
-- Numbers the oldest events, and answers each with every subscription that has a job for it. $2 are the events whose
-- listeners' jobs are made now: for the others they were made where the event was emitted.
with pending as materialized (
  select e.project_id, e.seq
  from holdfast.events as e
  where e.position is null
  order by e.seq
  limit $1
),
placed as materialized (
  select pending.*, nextval('holdfast.event_position') as position from pending
),
numbered as materialized (
  update holdfast.events as e
  set position = placed.position
  from placed
  where e.project_id = placed.project_id and e.seq = placed.seq
  returning e.project_id, e.position, e.id, e.event, e.job_id, e.data, e.occurred_at
)
select
  n.project_id, n.position, n.id, n.event, n.job_id, n.occurred_at, s.job,
  case when s.job is not null then n.data end as data
from numbered as n
left join holdfast.event_subscriptions as s
  on s.project_id = n.project_id and s.event = n.event and s.job is not null and n.event = any ($2::text[])
order by n.position;

-- name: list_events
-- In the order of their numbers, a page behind $2, with the newest number of the project. One row without an event when
-- there is none behind it.
select newest.position as newest_position, e.position, e.id, e.event, e.job_id, e.data, e.occurred_at
from (
  select max(position) as position from holdfast.events where project_id = $1 and position is not null
) as newest
left join lateral (
  select e.position, e.id, e.event, e.job_id, e.data, e.occurred_at
  from holdfast.events as e
  where e.project_id = $1 and e.position > $2::bigint and ($3::text[] is null or e.event = any ($3::text[]))
  order by e.position
  limit $4
) as e on true
order by e.position;

-- name: list_newest_positions
-- The newest number of each of these projects that has one.
select p.id as project_id, newest.position
from unnest($1::uuid[]) as p (id)
cross join lateral (
  select e.position
  from holdfast.events as e
  where e.project_id = p.id and e.position is not null
  order by e.position desc
  limit 1
) as newest;

-- name: forget_events
-- Ends the retention of events that were dispatched, page by page. Nobody changes these any more, so their places hold.
-- The time of the statement, which an index can be asked for, and not that of the clock.
delete from holdfast.events as e
where e.ctid = any (array(
  select x.ctid
  from holdfast.events as x
  where x.occurred_at < statement_timestamp() - $1::double precision * interval '1 millisecond' and x.position is not null
  order by x.occurred_at
  limit $2
))
returning e.seq;
