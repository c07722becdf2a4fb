-- What a handler reads and writes by its lease beside the job's row: the fence of its own transactions, and its steps.

-- name: check_lease
-- Whether the lease holds now. Locks nothing: the heartbeat, a cancel request and the start of the job go on meanwhile.
-- Under a level that sees one snapshot, such a change of the row would make its removal fail: the row must be locked.
select current_setting('transaction_isolation') as isolation
from holdfast.jobs as j
where j.project_id = $1::uuid and j.id = $2::uuid and j.lease_token = $3::uuid;

-- name: lock_lease
-- Whether the lease holds; if so, nobody can take it away before the transaction ends.
select j.id
from holdfast.jobs as j
where j.project_id = $1::uuid and j.id = $2::uuid and j.lease_token = $3::uuid
for share of j;

-- name: list_steps
-- The steps that earlier executions of the job's generation kept. No row at all means that the lease is lost; one without
-- a name, that there are none. A replay adds a generation and so begins without steps, whichever statement replays.
select s.name, s.position, s.result::text as result
from holdfast.jobs as j
left join holdfast.job_steps as s
  on s.project_id = j.project_id and s.job_id = j.id and s.generation = j.generation
where j.project_id = $1::uuid and j.id = $2::uuid and j.lease_token = $3::uuid
order by s.position;

-- name: record_step
-- Keeps the result of a step; no row back means that the lease is lost. The lock orders it before whoever takes the lease
-- away, so that the next execution finds it. A repeated call changes nothing.
with held as materialized (
  select j.generation
  from holdfast.jobs as j
  where j.project_id = $1::uuid and j.id = $2::uuid and j.lease_token = $3::uuid
  for share of j
)
insert into holdfast.job_steps (project_id, job_id, generation, name, position, result)
select $1::uuid, $2::uuid, held.generation, $4::text, $5::integer, $6::jsonb
from held
on conflict (project_id, job_id, generation, name) do update
set result = excluded.result
returning name;

-- name: forget_steps
-- Steps go when their job is gone.
delete from holdfast.job_steps as s
using (
  select x.project_id, x.job_id, x.generation, x.name
  from holdfast.job_steps as x
  where x.recorded_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
    and not exists (select 1 from holdfast.jobs as j where j.project_id = x.project_id and j.id = x.job_id)
    and not exists (select 1 from holdfast.job_history as h where h.project_id = x.project_id and h.id = x.job_id)
  limit $2
) as old
where s.project_id = old.project_id and s.job_id = old.job_id and s.generation = old.generation
  and s.name = old.name
returning s.job_id;
