-- What follows from the end of a job that something waits for. All of it runs in the transaction that takes the ending
-- away, so that it follows exactly once. Rows are locked in the order of their keys.

-- name: take_endings
-- The oldest endings; those that another settler works on are left to it.
with picked as materialized (
  select e.id
  from holdfast.job_endings as e
  order by e.id
  limit $1
  for update skip locked
)
delete from holdfast.job_endings as e
using picked
where e.id = picked.id
returning e.project_id, e.job_id, e.status, e.batch_id, e.has_children;

-- name: drop_endings
-- Endings that nobody has settled, of jobs that live again. Waits for a settler that has them in hand.
delete from holdfast.job_endings as e
using unnest($2::uuid[]) as n (id)
where e.project_id = $1 and e.job_id = n.id
returning e.job_id as id;

-- name: settle_dependencies
with ended as materialized (
  select d.parent_id, d.child_id, n.status
  from unnest($2::uuid[], $3::text[]) as n (id, status)
  join holdfast.job_dependencies as d on d.project_id = $1 and d.parent_id = n.id
  where d.state = 'waiting'
  order by d.parent_id, d.child_id
  for no key update of d
)
update holdfast.job_dependencies as d
set state = case when ended.status = 'completed' then 'satisfied' else 'broken' end
from ended
where d.project_id = $1 and d.parent_id = ended.parent_id and d.child_id = ended.child_id
returning d.parent_id, d.child_id, d.on_failure, d.state;

-- name: count_down_parents
-- Answers how many parents each child waits for still, and the delay that it has of its own.
with held as materialized (
  select j.id, j.pending_parents - n.ended_count as left_count
  from unnest($2::uuid[], $3::integer[]) as n (id, ended_count)
  join holdfast.jobs as j on j.project_id = $1 and j.id = n.id
  where j.status = 'scheduled' and j.pending_parents > 0
  order by j.id
  for no key update of j
),
counted as (
  update holdfast.jobs as j
  set pending_parents = held.left_count
  from held
  where j.project_id = $1 and j.id = held.id and held.left_count > 0
)
select
  held.id,
  held.left_count,
  coalesce(
    (
      select max(d.child_delay_ms)
      from holdfast.job_dependencies as d
      where d.project_id = $1 and d.child_id = held.id
    ),
    0
  ) as delay_ms
from held;

-- name: find_ended_callbacks
-- Which of the ended jobs are callbacks of their batch; notes their first end.
with named as materialized (
  select c.batch_id, c.role, c.percent, c.job_id
  from unnest($2::uuid[]) as n (id)
  join holdfast.batch_callbacks as c on c.project_id = $1 and c.job_id = n.id
),
noted as (
  update holdfast.batch_callbacks as c
  set ended_at = clock_timestamp()
  from named
  where c.project_id = $1 and c.batch_id = named.batch_id and c.role = named.role and c.percent = named.percent
    and c.ended_at is null
)
select batch_id, job_id from named;

-- name: count_batch_ends
-- Adds what ended to each batch, and locks it until what follows is written.
with locked as materialized (
  select b.id, n.completed_count, n.dead_letter_count, n.cancelled_count
  from unnest($2::uuid[], $3::integer[], $4::integer[], $5::integer[])
    as n (id, completed_count, dead_letter_count, cancelled_count)
  join holdfast.batches as b on b.project_id = $1 and b.id = n.id
  order by b.id
  for no key update of b
)
update holdfast.batches as b
set
  completed_count = b.completed_count + locked.completed_count,
  dead_letter_count = b.dead_letter_count + locked.dead_letter_count,
  cancelled_count = b.cancelled_count + locked.cancelled_count
from locked
where b.project_id = $1 and b.id = locked.id
returning
  b.id, b.kind, b.name, b.parent_id, b.allow_failures, b.total_count, b.completed_count, b.dead_letter_count,
  b.cancelled_count, b.cancelled_at is not null as is_cancelled, b.finished_at is not null as is_finished,
  b.reported_status::text as reported_status;

-- name: list_open_callbacks
-- All callbacks of the batches; the template only of those that have not been enqueued.
select
  c.batch_id, c.role, c.percent, c.job_id, c.enqueued_at is not null as is_enqueued, c.ended_at is not null as has_ended,
  case when c.enqueued_at is null then c.job::text end as job
from unnest($2::uuid[]) as n (id)
join holdfast.batch_callbacks as c on c.project_id = $1 and c.batch_id = n.id
order by c.batch_id, c.role, c.percent;

-- name: mark_callbacks_enqueued
update holdfast.batch_callbacks as c
set enqueued_at = clock_timestamp()
from unnest($2::uuid[]) as n (id)
where c.project_id = $1 and c.job_id = n.id;

-- name: mark_batches_finished
update holdfast.batches as b
set finished_at = clock_timestamp()
from unnest($2::uuid[]) as n (id)
where b.project_id = $1 and b.id = n.id and b.finished_at is null;

-- name: report_batch_ends
-- A batch that is a member of another one ends there as a job does.
with reported as (
  update holdfast.batches as b
  set reported_status = n.status::holdfast.job_status
  from unnest($2::uuid[], $3::text[]) as n (id, status)
  where b.project_id = $1 and b.id = n.id and b.parent_id is not null and b.reported_status is null
  returning b.id, b.parent_id, b.reported_status
)
insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
select $1, id, reported_status, parent_id, false
from reported;

-- name: reopen_dependencies
-- The edges below jobs that live again, as far as their breaking was felt.
update holdfast.job_dependencies as d
set state = 'waiting'
from unnest($2::uuid[]) as n (id)
where d.project_id = $1 and d.parent_id = n.id and d.state = 'broken' and d.on_failure <> 'run'
returning d.child_id, d.on_failure;

-- name: count_open_parents
-- For how many parents each of these children waits, or would if it lived again.
select d.child_id as id, count(*)::integer as parent_count
from unnest($2::uuid[]) as n (id)
join holdfast.job_dependencies as d on d.project_id = $1 and d.child_id = n.id
where d.state = 'waiting' or (d.state = 'broken' and d.on_failure <> 'run')
group by d.child_id;

-- name: find_memberships
-- Of which batches the jobs are members; callbacks are none.
select m.id, m.batch_id
from unnest($2::uuid[], $3::uuid[]) as m (id, batch_id)
where not exists (
  select from holdfast.batch_callbacks as c where c.project_id = $1 and c.job_id = m.id
);

-- name: reopen_batch
-- Takes ended members back: the batch is no longer finished, and an outer one that was told of its end learns of it.
with locked as materialized (
  select b.id, b.parent_id, b.reported_status
  from holdfast.batches as b
  where b.project_id = $1 and b.id = $2
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
where b.project_id = $1 and b.id = $2
returning locked.parent_id, locked.reported_status::text as reported_status;
