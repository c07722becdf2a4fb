-- What follows from the end of a job that something waits for. All of it runs in the transaction that takes the ending
-- away, so that it follows exactly once.
--
-- Whoever changes what a batch has counted, or an edge between its jobs, holds the row of the batch. A settler waits for
-- no row: it passes over what somebody else holds, and comes back. So it cannot be part of a deadlock, and a transaction
-- that a program leaves open keeps back nothing but what it has locked itself.

-- name: hold_batches
-- Locks the batches of the oldest endings that nobody holds; $2 are passed over, and with $3 no others are looked at. With
-- $4, the endings that are in no batch are counted as well.
with line as materialized (
  select e.project_id, e.batch_id
  from holdfast.job_endings as e
  where case when e.batch_id is null then $4::boolean else e.batch_id <> all ($2::uuid[]) end
    and ($3::uuid[] is null or e.batch_id = any ($3::uuid[]))
  order by e.id
  limit $1::integer
),
wanted as materialized (
  select project_id, batch_id, count(*)::integer as ending_count from line group by project_id, batch_id
),
held as materialized (
  select b.project_id, b.id
  from wanted
  join holdfast.batches as b on b.project_id = wanted.project_id and b.id = wanted.batch_id
  order by b.project_id, b.id
  for no key update of b skip locked
)
select
  wanted.project_id, wanted.batch_id as id, wanted.ending_count,
  held.id is not null
    or not exists (
      select from holdfast.batches as b where b.project_id = wanted.project_id and b.id = wanted.batch_id
    ) as is_free
from wanted
left join held on held.project_id = wanted.project_id and held.id = wanted.batch_id;

-- name: hold_batch
-- Waits until nobody settles the batch or adds to it.
select b.id from holdfast.batches as b where b.project_id = $1::uuid and b.id = $2::uuid for no key update;

-- name: take_member_endings
-- Takes the oldest endings in the held batches away, but those that jobs wait for; answers by batch how its members among
-- them ended, and how many of the oldest are left for pick_parent_endings. Notes the first end of callbacks, which are no
-- members.
with line as materialized (
  select e.ctid as row_id, e.id, e.project_id, e.job_id, e.status, e.batch_id, e.has_children
  from holdfast.job_endings as e
  where
    -- Within a CASE it is looked at row by row, in the order of the line; as a join the whole table would be read.
    case
      when e.batch_id is not null then (e.project_id, e.batch_id) in (
        select n.project_id, n.batch_id from unnest($2::uuid[], $3::uuid[]) as n (project_id, batch_id)
      )
    end
  order by e.id
  limit $1::integer
),
taken as materialized (
  delete from holdfast.job_endings as e
  using line
  where e.ctid = line.row_id and not line.has_children
  returning e.id
),
callback as materialized (
  select c.project_id, c.batch_id, c.role, c.percent, c.job_id
  from unnest($2::uuid[], $3::uuid[]) as n (project_id, batch_id)
  join holdfast.batch_callbacks as c on c.project_id = n.project_id and c.batch_id = n.batch_id
  where c.enqueued_at is not null
),
noted as (
  update holdfast.batch_callbacks as c
  set ended_at = clock_timestamp()
  from line
  join callback on callback.project_id = line.project_id and callback.job_id = line.job_id
  where c.project_id = callback.project_id and c.batch_id = callback.batch_id and c.role = callback.role
    and c.percent = callback.percent and c.ended_at is null
)
select
  line.project_id, line.batch_id,
  count(taken.id)::integer as ending_count,
  count(*) filter (where line.has_children)::integer as parent_count,
  count(*) filter (where taken.id is not null and callback.job_id is null and line.status = 'completed')::integer
    as completed_count,
  count(*) filter (where taken.id is not null and callback.job_id is null and line.status = 'dead_letter')::integer
    as dead_letter_count,
  count(*) filter (where taken.id is not null and callback.job_id is null and line.status = 'cancelled')::integer
    as cancelled_count,
  min(line.id)::text as first_id,
  (array_agg(line.job_id order by line.id))[1] as first_job_id
from line
left join taken on taken.id = line.id
left join callback on callback.project_id = line.project_id and callback.job_id = line.job_id
group by line.project_id, line.batch_id;

-- name: pick_parent_endings
-- The oldest endings that jobs wait for: those in the held batches, and, if they are wanted, those in no batch.
select e.id::text as id, e.project_id, e.job_id, e.status::text as status, e.batch_id
from holdfast.job_endings as e
where e.has_children
  and case
    when e.batch_id is null then $4::boolean
    else (e.project_id, e.batch_id) in (
      select n.project_id, n.batch_id from unnest($2::uuid[], $3::uuid[]) as n (project_id, batch_id)
    )
  end
order by e.id
limit $1::integer
for update skip locked;

-- name: hold_children
-- Locks the jobs that wait for the given ones, and below those that died all that will be cancelled; answers the given ones
-- for which somebody else holds one of these.
with recursive edge as (
  select n.id as root_id, d.project_id, d.child_id, d.on_failure = 'cancel' and n.status <> 'completed' as is_doomed
  from unnest($1::uuid[], $2::uuid[], $3::text[]) as n (project_id, id, status)
  join holdfast.job_dependencies as d on d.project_id = n.project_id and d.parent_id = n.id
  where d.state = 'waiting'
  union
  select edge.root_id, d.project_id, d.child_id, d.on_failure = 'cancel'
  from edge
  join holdfast.job_dependencies as d on d.project_id = edge.project_id and d.parent_id = edge.child_id
  where edge.is_doomed and d.state = 'waiting'
),
child as materialized (
  select distinct project_id, child_id from edge
),
held as materialized (
  select j.project_id, j.id
  from child
  join holdfast.jobs as j on j.project_id = child.project_id and j.id = child.child_id
  order by j.project_id, j.id
  for no key update of j skip locked
)
select distinct edge.project_id, edge.root_id as parent_id
from edge
join holdfast.jobs as j on j.project_id = edge.project_id and j.id = edge.child_id
left join held on held.project_id = edge.project_id and held.id = edge.child_id
where held.id is null;

-- name: remove_endings
delete from holdfast.job_endings as e using unnest($1::bigint[]) as n (id) where e.id = n.id;

-- name: postpone_ending
-- Puts an ending that cannot be settled at the end of the line.
update holdfast.job_endings as e set id = default where e.id = $1::bigint;

-- name: drop_endings
-- Endings that nobody has settled, of jobs that live again. Waits for a settler that has them in hand.
delete from holdfast.job_endings as e
using unnest($2::uuid[]) as n (id)
where e.project_id = $1::uuid and e.job_id = n.id
returning e.job_id as id;

-- name: settle_dependencies
-- The edges below the ended jobs, and below all that will be cancelled because of them.
with recursive ended as (
  select d.parent_id, d.child_id, d.on_failure, n.status
  from unnest($2::uuid[], $3::text[]) as n (id, status)
  join holdfast.job_dependencies as d on d.project_id = $1::uuid and d.parent_id = n.id
  where d.state = 'waiting'
  union
  select d.parent_id, d.child_id, d.on_failure, 'cancelled'
  from ended
  join holdfast.job_dependencies as d on d.project_id = $1::uuid and d.parent_id = ended.child_id
  where ended.on_failure = 'cancel' and ended.status <> 'completed' and d.state = 'waiting'
)
update holdfast.job_dependencies as d
set state = case when ended.status = 'completed' then 'satisfied' else 'broken' end
from ended
where d.project_id = $1::uuid and d.parent_id = ended.parent_id and d.child_id = ended.child_id
returning d.parent_id, d.child_id, d.on_failure, d.state;

-- name: count_down_parents
-- Answers how many parents each child waits for still, and the delay that it has of its own.
with held as materialized (
  select j.id, j.pending_parents - n.ended_count as left_count
  from unnest($2::uuid[], $3::integer[]) as n (id, ended_count)
  join holdfast.jobs as j on j.project_id = $1::uuid and j.id = n.id
  where j.status = 'scheduled' and j.pending_parents > 0
  order by j.id
  for no key update of j
),
counted as (
  update holdfast.jobs as j
  set pending_parents = held.left_count
  from held
  where j.project_id = $1::uuid and j.id = held.id and held.left_count > 0
)
select
  held.id,
  held.left_count,
  coalesce(
    (
      select max(d.child_delay_ms)
      from holdfast.job_dependencies as d
      where d.project_id = $1::uuid and d.child_id = held.id
    ),
    0
  ) as delay_ms
from held;

-- name: count_batch_ends
-- Adds what ended to each batch, and locks it until what follows is written.
with locked as materialized (
  select b.id, n.completed_count, n.dead_letter_count, n.cancelled_count
  from unnest($2::uuid[], $3::integer[], $4::integer[], $5::integer[])
    as n (id, completed_count, dead_letter_count, cancelled_count)
  join holdfast.batches as b on b.project_id = $1::uuid and b.id = n.id
  order by b.id
  for no key update of b
)
update holdfast.batches as b
set
  completed_count = b.completed_count + locked.completed_count,
  dead_letter_count = b.dead_letter_count + locked.dead_letter_count,
  cancelled_count = b.cancelled_count + locked.cancelled_count
from locked
where b.project_id = $1::uuid and b.id = locked.id
returning
  b.id, b.kind, b.name, b.parent_id, b.allow_failures, b.total_count, b.completed_count, b.dead_letter_count,
  b.cancelled_count, b.cancelled_at is not null as is_cancelled, b.finished_at is not null as is_finished,
  b.reported_status::text as reported_status;

-- name: list_open_callbacks
-- All callbacks of the batches; the template only of those that have not been enqueued.
select
  c.batch_id, c.role, c.percent::integer as percent, c.job_id, c.enqueued_at is not null as is_enqueued, c.ended_at is not null as has_ended,
  case when c.enqueued_at is null then c.job::text end as job
from unnest($2::uuid[]) as n (id)
join holdfast.batch_callbacks as c on c.project_id = $1::uuid and c.batch_id = n.id
order by c.batch_id, c.role, c.percent;

-- name: rename_callbacks
-- Callbacks whose ids somebody else has taken get others.
update holdfast.batch_callbacks as c
set job_id = n.new_id
from unnest($2::uuid[], $3::uuid[]) as n (id, new_id)
where c.project_id = $1::uuid and c.job_id = n.id;

-- name: mark_callbacks_enqueued
update holdfast.batch_callbacks as c
set enqueued_at = clock_timestamp()
from unnest($2::uuid[]) as n (id)
where c.project_id = $1::uuid and c.job_id = n.id;

-- name: mark_batches_finished
update holdfast.batches as b
set finished_at = clock_timestamp()
from unnest($2::uuid[]) as n (id)
where b.project_id = $1::uuid and b.id = n.id and b.finished_at is null;

-- name: report_batch_ends
-- A batch that is a member of another one ends there as a job does.
with reported as (
  update holdfast.batches as b
  set reported_status = n.status::holdfast.job_status
  from unnest($2::uuid[], $3::text[]) as n (id, status)
  where b.project_id = $1::uuid and b.id = n.id and b.parent_id is not null and b.reported_status is null
  returning b.id, b.parent_id, b.reported_status
)
insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
select $1::uuid, id, reported_status, parent_id, false
from reported;

-- name: list_cancelled_below
-- The jobs that the death of a job had cancelled, all the way down, each with the dead or cancelled parents that forbid it
-- to run. A job that was cancelled otherwise is none of them, and neither is what is only below that.
with recursive below as (
  select $2::uuid as id, false as has_key
  union
  select cancelled.id, cancelled.has_key
  from below
  join holdfast.job_dependencies as d on d.project_id = $1::uuid and d.parent_id = below.id
  cross join lateral (
    select h.id, h.unique_lock is not null as has_key
    from holdfast.job_history as h
    where h.project_id = $1::uuid and h.id = d.child_id and h.status = 'cancelled' and h.reason = 'parent_failed'
    limit 1
  ) as cancelled
  where d.state = 'broken' and d.on_failure = 'cancel'
)
select below.id, below.has_key, array_agg(d.parent_id) as parent_ids
from below
join holdfast.job_dependencies as d on d.project_id = $1::uuid and d.child_id = below.id
where below.id <> $2::uuid and d.state = 'broken' and d.on_failure = 'cancel'
group by below.id, below.has_key;

-- name: reopen_dependencies
-- The edges below jobs that live again, as far as their end was felt.
update holdfast.job_dependencies as d
set state = 'waiting'
from unnest($2::uuid[]) as n (id)
where d.project_id = $1::uuid and d.parent_id = n.id and d.state = 'broken' and d.on_failure <> 'run';

-- name: count_open_parents
-- For how many parents each of these children waits, or would if it lived again.
select d.child_id as id, count(*)::integer as parent_count
from unnest($2::uuid[]) as n (id)
join holdfast.job_dependencies as d on d.project_id = $1::uuid and d.child_id = n.id
where d.state = 'waiting' or (d.state = 'broken' and d.on_failure <> 'run')
group by d.child_id;

-- name: find_memberships
-- Of which batches the jobs are members; callbacks are none.
select m.id, m.batch_id
from unnest($2::uuid[], $3::uuid[]) as m (id, batch_id)
where not exists (
  select from holdfast.batch_callbacks as c where c.project_id = $1::uuid and c.job_id = m.id
);

-- name: reopen_batch
-- Takes ended members back: the batch is no longer finished, and an outer one that was told of its end learns of it.
with locked as materialized (
  select b.id, b.parent_id, b.reported_status
  from holdfast.batches as b
  where b.project_id = $1::uuid and b.id = $2::uuid
  for no key update
)
update holdfast.batches as b
set
  completed_count = b.completed_count - $3::integer,
  dead_letter_count = b.dead_letter_count - $4::integer,
  cancelled_count = b.cancelled_count - $5::integer,
  finished_at = null,
  reported_status = null
from locked
where b.project_id = $1::uuid and b.id = $2::uuid
returning locked.parent_id, locked.reported_status::text as reported_status;
