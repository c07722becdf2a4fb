-- Payload contracts: what workers say of the payloads that they take, and the payloads that wait.

-- name: register_payload_contracts
-- Notes what a worker takes, in one statement; answers the versions whose schema was another one before. Writes nothing
-- when all is known and was seen within the hour, so that a fleet may start at once. Rows are locked in the order of their
-- keys.
with given as materialized (
  select n.type, n.version, n.json_schema::jsonb as json_schema, n.fingerprint
  from unnest($2::text[], $3::smallint[], $4::text[], $5::text[]) as n (type, version, json_schema, fingerprint)
),
known as materialized (
  select c.type, c.version, c.fingerprint, c.last_seen_at
  from given as g
  join holdfast.payload_contracts as c on c.project_id = $1::uuid and c.type = g.type and c.version = g.version
),
noted as (
  insert into holdfast.payload_contracts as c (project_id, type, version, json_schema, fingerprint)
  select $1::uuid, g.type, g.version, g.json_schema, g.fingerprint
  from given as g
  left join known as k on k.type = g.type and k.version = g.version
  where k.type is null
    or k.fingerprint is distinct from coalesce(g.fingerprint, k.fingerprint)
    or k.last_seen_at < clock_timestamp() - interval '1 hour'
  order by g.type, g.version
  on conflict (project_id, type, version) do update
  set
    json_schema = coalesce(excluded.json_schema, c.json_schema),
    fingerprint = coalesce(excluded.fingerprint, c.fingerprint),
    last_seen_at = clock_timestamp()
)
select k.type, k.version::integer as version
from given as g
join known as k on k.type = g.type and k.version = g.version
where k.fingerprint <> g.fingerprint
order by k.type, k.version;

-- name: list_payload_contracts
select c.type, c.version::integer as version, c.json_schema, c.fingerprint, c.first_seen_at, c.last_seen_at
from holdfast.payload_contracts as c
where c.project_id = $1::uuid
order by c.type, c.version;

-- name: count_waiting_payloads
-- How many jobs that may still run there are of each type and version.
select j.type, coalesce(j.payload_version, 1)::integer as version, count(*)::integer as job_count
from holdfast.jobs as j
where j.project_id = $1::uuid and j.status in ('queued', 'scheduled', 'claimed', 'running', 'failed')
group by 1, 2
order by 1, 2;

-- name: list_waiting_payloads
-- The payloads of such jobs, by id, a page after the given one. Types and versions are named as for a claim.
select j.id, j.type, coalesce(j.payload_version, 1)::integer as version, j.payload::text as payload
from holdfast.jobs as j
where j.project_id = $1::uuid and ($2::uuid is null or j.id > $2::uuid)
  and j.status in ('queued', 'scheduled', 'claimed', 'running', 'failed')
  and case
    when j.payload_version is null then j.type = any ($4::text[])
    else j.type || '@' || j.payload_version = any ($4::text[])
  end
order by j.id
limit $3;
