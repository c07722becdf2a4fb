-- The first answer to a request that carries an idempotency key, kept for 24 hours.

-- name: take_idempotency_key
-- A row back: the key is ours until the end of the transaction. A second request with it waits here for the first.
insert into holdfast.idempotency_keys as k (project_id, key_hash, request_hash)
values ($1, $2, $3)
on conflict (project_id, key_hash) do update
set
  request_hash = excluded.request_hash, response_status = null, response_body = null, created_at = clock_timestamp()
where k.created_at < clock_timestamp() - interval '24 hours'
returning true as taken;

-- name: read_idempotent_response
select k.request_hash, k.response_status, k.response_body
from holdfast.idempotency_keys as k
where k.project_id = $1 and k.key_hash = $2;

-- name: keep_idempotent_response
update holdfast.idempotency_keys
set response_status = $3, response_body = $4::jsonb
where project_id = $1 and key_hash = $2;
