-- Unique keys; the functions and their reasons stand in the migration that made them.

-- name: acquire_unique_keys
-- Nothing in it may fail in a caller's transaction but what fails any transaction: conflicts are answers.
select a.request_no, a.verdict, a.job_id, a.job_status, a.holder_id
from holdfast.acquire_unique_keys($1::uuid, $2::jsonb) as a;

-- name: reacquire_unique_keys
select a.job_id, a.holder_id
from holdfast.reacquire_unique_keys($1::uuid, $2::uuid[]) as a;

-- name: forget_unique_keys
-- One row for each lock that is gone.
select n from generate_series(1, holdfast.forget_unique_keys($1::double precision, $2::integer)) as n;
