-- Batches, chains and graphs: made with their jobs in one transaction, read, added to and cancelled.

-- name: insert_batch
insert into holdfast.batches (project_id, id, kind, name, parent_id, allow_failures, total_count)
values ($1::uuid, $2::uuid, $3::text, $4::text, $5::uuid, $6::boolean, $7::integer)
on conflict do nothing
returning id;

-- name: insert_batch_callbacks
insert into holdfast.batch_callbacks (project_id, batch_id, role, percent, job_id, job)
select $1::uuid, $2::uuid, n.role, n.percent, n.job_id, n.job::jsonb
from unnest($3::text[], $4::smallint[], $5::uuid[], $6::text[]) as n (role, percent, job_id, job);

-- name: insert_dependencies
insert into holdfast.job_dependencies (project_id, parent_id, child_id, on_failure, child_delay_ms)
select $1::uuid, n.parent_id, n.child_id, n.on_failure, n.child_delay_ms
from unnest($2::uuid[], $3::uuid[], $4::text[], $5::double precision[])
  as n (parent_id, child_id, on_failure, child_delay_ms);

-- name: lock_open_batch
-- For adding to it: a batch that has finished or was cancelled takes no more.
select b.id, b.finished_at is not null as is_finished, b.cancelled_at is not null as is_cancelled
from holdfast.batches as b
where b.project_id = $1::uuid and b.id = $2::uuid
for no key update;

-- name: find_outer_depth
-- In how many levels of batches a member of the batch is; it is looked for at most $3 levels up.
with recursive line as (
  select b.parent_id, 1 as depth
  from holdfast.batches as b
  where b.project_id = $1::uuid and b.id = $2::uuid
  union all
  select b.parent_id, line.depth + 1
  from line
  join holdfast.batches as b on b.project_id = $1::uuid and b.id = line.parent_id
  where line.depth < $3::integer
)
select coalesce(max(line.depth), 0)::integer as depth from line;

-- name: find_batches
-- Which of the ids are batches, and of what kind.
select b.id, b.parent_id, b.kind, b.total_count
from holdfast.batches as b
where b.project_id = $1::uuid and b.id = any($2::uuid[]);

-- name: find_taken_ids
-- One of the jobs, and one of the batches, whose id something else has; history is searched only for ids that may have
-- been used before. The limits keep the planner from reading whole tables.
select
  (
    select t.id
    from unnest($2::uuid[]) as n (id)
    cross join lateral (
      select j.id from holdfast.jobs as j where j.project_id = $1::uuid and j.id = n.id
      union all
      select c.job_id from holdfast.batch_callbacks as c where c.project_id = $1::uuid and c.job_id = n.id
      union all
      select h.id from holdfast.job_history as h where $4::boolean and h.project_id = $1::uuid and h.id = n.id
      limit 1
    ) as t
    limit 1
  ) as job_id,
  (
    select b.id from holdfast.batches as b where b.project_id = $1::uuid and b.id = any($3::uuid[]) limit 1
  ) as batch_id;

-- name: abort_transaction
-- Fails, so that a caller's transaction can only be rolled back; the server's log shows why.
select $1::text::integer as never;

-- name: find_members
-- Which of the jobs are members of the batch next to them, ended or not; callbacks are none.
select n.id
from unnest($2::uuid[], $3::uuid[]) as n (batch_id, id)
where
  (
    exists (
      select from holdfast.jobs as j where j.project_id = $1::uuid and j.id = n.id and j.batch_id = n.batch_id
    )
    or exists (
      select from holdfast.job_history as h where h.project_id = $1::uuid and h.id = n.id and h.batch_id = n.batch_id
    )
  )
  and not exists (
    select from holdfast.batch_callbacks as c
    where c.project_id = $1::uuid and c.batch_id = n.batch_id and c.job_id = n.id
  );

-- name: count_kept_members
-- How many of the members of each batch are there still, ended or not, batches too.
select
  n.id,
  (
    (
      select count(*)
      from holdfast.all_jobs as j
      where j.project_id = $1::uuid and j.batch_id = n.id
        and not exists (
          select from holdfast.batch_callbacks as c
          where c.project_id = $1::uuid and c.batch_id = n.id and c.job_id = j.id
        )
    )
    + (select count(*) from holdfast.batches as b where b.project_id = $1::uuid and b.parent_id = n.id)
  )::integer as kept_count
from unnest($2::uuid[]) as n (id);

-- name: grow_batch
update holdfast.batches as b
set total_count = b.total_count + $3::integer
where b.project_id = $1::uuid and b.id = $2::uuid;

-- name: read_batch
select
  b.id, b.kind, b.name, b.parent_id, b.allow_failures, b.total_count, b.completed_count, b.dead_letter_count,
  b.cancelled_count, b.created_at, b.finished_at, b.cancelled_at,
  coalesce(
    (
      select jsonb_agg(
        jsonb_build_object(
          'role', c.role, 'percent', c.percent, 'jobId', c.job_id, 'type', c.job ->> 'type',
          'enqueuedAt', c.enqueued_at, 'endedAt', c.ended_at
        )
        order by c.role, c.percent
      )
      from holdfast.batch_callbacks as c
      where c.project_id = b.project_id and c.batch_id = b.id
    ),
    '[]'
  ) as callbacks
from holdfast.batches as b
where b.project_id = $1 and b.id = $2;

-- name: list_batches
-- Newest first; a page ends before the given batch.
select
  b.id, b.kind, b.name, b.parent_id, b.allow_failures, b.total_count, b.completed_count, b.dead_letter_count,
  b.cancelled_count, b.created_at, b.finished_at, b.cancelled_at, '[]'::jsonb as callbacks
from holdfast.batches as b
where b.project_id = $1
  and ($3::uuid is null or (b.created_at, b.id) < (
    select x.created_at, x.id from holdfast.batches as x where x.project_id = $1 and x.id = $3
  ))
  and ($4::text is null or b.kind = $4)
order by b.created_at desc, b.id desc
limit $2;

-- name: list_batch_dependencies
-- The edges between the jobs of a graph or chain.
select d.parent_id, d.child_id, d.on_failure, d.state
from holdfast.all_jobs as j
join holdfast.job_dependencies as d on d.project_id = j.project_id and d.child_id = j.id
where j.project_id = $1 and j.batch_id = $2
order by d.child_id, d.parent_id;

-- name: list_batch_jobs
-- The jobs of a graph or chain, without its callbacks, in the order in which they were made.
select j.id, j.type, j.status::text as status
from holdfast.all_jobs as j
where j.project_id = $1 and j.batch_id = $2
  and not exists (
    select from holdfast.batch_callbacks as c where c.project_id = j.project_id and c.job_id = j.id
  )
order by j.id;

-- name: list_parent_edges
-- What a job waits or waited for.
select d.parent_id, d.child_id, d.on_failure, d.state
from holdfast.job_dependencies as d
where d.project_id = $1 and d.child_id = $2
order by d.parent_id;

-- name: list_parents
-- What the jobs that a job waits or waited for have left; no type for one that history no longer has.
select d.parent_id as id, d.state, j.type, j.status, j.result::text as result
from holdfast.job_dependencies as d
left join lateral (
  select a.type, a.status, a.result
  from holdfast.all_jobs as a
  where a.project_id = d.project_id and a.id = d.parent_id
) as j on true
where d.project_id = $1 and d.child_id = $2
order by d.parent_id;

-- name: mark_batch_cancelled
update holdfast.batches as b
set cancelled_at = coalesce(b.cancelled_at, clock_timestamp())
where b.project_id = $1 and b.id = $2 and b.finished_at is null
returning b.id;

-- name: list_inner_batches
select b.id from holdfast.batches as b where b.project_id = $1 and b.parent_id = $2 order by b.id;

-- name: list_cancellable_members
-- Members that have neither ended nor been asked to, of one moment. Callbacks are no members: what a batch has called for
-- runs.
select j.id, j.status in ('claimed', 'running') as is_held
from holdfast.jobs as j
where j.project_id = $1 and j.batch_id = $2 and j.status <> 'dead_letter' and j.cancel_requested_at is null
  and j.id > $3::uuid
  and not exists (
    select from holdfast.batch_callbacks as c where c.project_id = j.project_id and c.job_id = j.id
  )
order by j.id
limit $4;

-- name: list_failed_members
-- Members that a person may try again.
select j.id, j.status
from holdfast.jobs as j
where j.project_id = $1 and j.batch_id = $2 and j.status in ('failed', 'dead_letter') and j.id > $3::uuid
  and not exists (
    select from holdfast.batch_callbacks as c where c.project_id = j.project_id and c.job_id = j.id
  )
order by j.id
limit $4;
