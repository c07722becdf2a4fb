-- Writes to a job that change no status.

-- name: edit_job
-- Changes a job that no worker has started. An instant in the past means now; only a scheduled job has one to change.
-- A payload without a version is of the version that is stored.
update holdfast.jobs as j
set
  payload = coalesce($3::jsonb, j.payload),
  payload_version = case when $10::smallint is null then j.payload_version else nullif($10::smallint, 1::smallint) end,
  priority = coalesce($4::smallint, j.priority),
  tags = coalesce($5::text[], j.tags),
  metadata = coalesce($6::jsonb, j.metadata),
  max_attempts = coalesce($7::integer, j.max_attempts),
  timeout_ms = coalesce($8::integer, j.timeout_ms),
  run_at = case when $9::timestamptz is null then j.run_at else greatest($9::timestamptz, clock_timestamp()) end
where j.project_id = $1 and j.id = $2
  and j.pending_parents = 0
  and (j.status = 'scheduled' or (j.status = 'queued' and $9::timestamptz is null))
returning j.queue_id;

-- name: record_progress
-- Fenced by the lease token: a worker that lost its lease reports nothing.
update holdfast.jobs as j
set progress = p.progress::jsonb
from unnest($2::uuid[], $3::uuid[], $4::text[]) as p (id, token, progress)
where j.project_id = $1 and j.id = p.id and j.lease_token = p.token;

-- name: append_logs
-- Fenced by the lease token: a worker that lost its lease logs nothing.
insert into holdfast.job_logs (logged_at, project_id, job_id, execution_seq, line, level, message, fields)
select
  statement_timestamp() - l.ago_ms * interval '1 millisecond', $1::uuid, l.id, j.execution_seq, l.line, l.level,
  l.message, l.fields::jsonb
from unnest(
  $2::uuid[], $3::uuid[], $4::double precision[], $5::integer[], $6::text[], $7::text[], $8::text[]
) as l (id, token, ago_ms, line, level, message, fields)
join holdfast.jobs as j on j.project_id = $1 and j.id = l.id and j.lease_token = l.token
on conflict do nothing;

-- name: find_stored_ends
-- Which of these executions the worker has ended already: the answer to its write was lost, and repeating the write
-- found nothing to move. An interrupted execution, or one that was cancelled by force, was ended by the reaper.
select e.job_id as id
from unnest($2::uuid[], $3::integer[]) as n (id, execution_seq)
join holdfast.job_executions as e
  on e.project_id = $1 and e.job_id = n.id and e.execution_seq = n.execution_seq
where e.worker_id = $4 and e.status <> 'running' and e.reason is distinct from 'cancel_forced';

-- name: record_late_result
-- Keeps what a worker reported after it had lost its lease, beside its own execution and nowhere else: a crash of the
-- server may undo a claim and give its number to another worker's.
insert into holdfast.job_late_results (project_id, job_id, execution_seq, status, result, error)
select $1::uuid, $2::uuid, $3::integer, $4::holdfast.execution_status, $5::jsonb, $6::jsonb
where exists (
  select 1
  from holdfast.job_executions as e
  where e.project_id = $1::uuid and e.job_id = $2::uuid and e.execution_seq = $3::integer
    and e.worker_id = $7::uuid
)
on conflict do nothing;
