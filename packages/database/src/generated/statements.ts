// Made from packages/database/sql by `npm run generate`. Do not edit.

/** A named SQL statement: the name identifies it to the server as a prepared statement. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export const statements = {
  /** accounts.sql */
  countUsers: {
    name: 'count_users',
    text: `select count(*)::integer as user_count from holdfast.users`,
  },
  /** accounts.sql */
  insertUser: {
    name: 'insert_user',
    text: `insert into holdfast.users (id, email, password_hash, password_change_required_at)
values ($1, $2, $3, case when $4::boolean then clock_timestamp() end)
on conflict (email) do nothing
returning id`,
  },
  /** accounts.sql */
  insertMembership: {
    name: 'insert_membership',
    text: `insert into holdfast.memberships (project_id, user_id, role)
select p.id, $2, $3
from holdfast.projects as p
where p.slug = $1
on conflict (project_id, user_id) do update set role = excluded.role`,
  },
  /** accounts.sql */
  findUserByEmail: {
    name: 'find_user_by_email',
    text: `select u.id, u.email, u.password_hash, u.disabled_at is not null as disabled
from holdfast.users as u
where u.email = $1`,
  },
  /** accounts.sql */
  readUser: {
    name: 'read_user',
    text: `select
  u.id, u.email, u.password_hash, u.password_change_required_at is not null as password_change_required,
  u.disabled_at is not null as disabled, u.created_at,
  coalesce(
    (
      select jsonb_agg(jsonb_build_object('project', p.slug, 'role', m.role) order by p.slug)
      from holdfast.memberships as m
      join holdfast.projects as p on p.id = m.project_id
      where m.user_id = u.id
    ),
    '[]'
  ) as memberships
from holdfast.users as u
where u.id = $1`,
  },
  /** accounts.sql */
  updatePassword: {
    name: 'update_password',
    text: `update holdfast.users
set password_hash = $2, password_change_required_at = null
where id = $1
returning id`,
  },
  /** accounts.sql */
  insertSession: {
    name: 'insert_session',
    text: `insert into holdfast.sessions (id, user_id, method, user_agent, ip, expires_at)
values ($1, $2, $3, $4, $5, clock_timestamp() + $6::double precision * interval '1 millisecond')`,
  },
  /** accounts.sql */
  revokeSession: {
    name: 'revoke_session',
    text: `update holdfast.sessions
set revoked_at = clock_timestamp(), revoked_reason = $2
where id = $1 and revoked_at is null
returning id`,
  },
  /** accounts.sql */
  revokeSessionsOfUser: {
    name: 'revoke_sessions_of_user',
    text: `update holdfast.sessions
set revoked_at = clock_timestamp(), revoked_reason = $2
where user_id = $1 and revoked_at is null`,
  },
  /** accounts.sql */
  insertRefreshToken: {
    name: 'insert_refresh_token',
    text: `insert into holdfast.refresh_tokens (token_hash, session_id, expires_at)
select $1, s.id, least(s.expires_at, clock_timestamp() + $3::double precision * interval '1 millisecond')
from holdfast.sessions as s
where s.id = $2
on conflict do nothing`,
  },
  /** accounts.sql */
  lockRefreshToken: {
    name: 'lock_refresh_token',
    text: `select
  t.session_id, s.user_id,
  t.used_at is not null as used,
  coalesce(t.used_at > clock_timestamp() - $2::double precision * interval '1 millisecond', false) as within_grace,
  s.revoked_at is null and s.expires_at > clock_timestamp() and t.expires_at > clock_timestamp() as valid
from holdfast.refresh_tokens as t
join holdfast.sessions as s on s.id = t.session_id
where t.token_hash = $1
for no key update of t`,
  },
  /** accounts.sql */
  markRefreshTokenUsed: {
    name: 'mark_refresh_token_used',
    text: `update holdfast.refresh_tokens set used_at = clock_timestamp() where token_hash = $1`,
  },
  /** accounts.sql */
  forgetSessions: {
    name: 'forget_sessions',
    text: `delete from holdfast.sessions as s
using (
  select id
  from holdfast.sessions
  where expires_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where s.id = old.id
returning s.id`,
  },
  /** accounts.sql */
  insertSignInTicket: {
    name: 'insert_sign_in_ticket',
    text: `insert into holdfast.sign_in_tickets (token_hash, user_id, expires_at)
values ($1, $2, clock_timestamp() + $3::double precision * interval '1 millisecond')`,
  },
  /** accounts.sql */
  forgetSignInTickets: {
    name: 'forget_sign_in_tickets',
    text: `delete from holdfast.sign_in_tickets as t
using (
  select token_hash
  from holdfast.sign_in_tickets
  where expires_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where t.token_hash = old.token_hash
returning t.token_hash`,
  },
  /** accounts.sql */
  redeemSignInTicket: {
    name: 'redeem_sign_in_ticket',
    text: `update holdfast.sign_in_tickets as t
set used_at = clock_timestamp()
from holdfast.users as u
where t.token_hash = $1 and t.used_at is null and t.expires_at > clock_timestamp()
  and u.id = t.user_id and u.disabled_at is null
returning t.user_id`,
  },
  /** accounts.sql */
  readPersonAccess: {
    name: 'read_person_access',
    text: `select
  u.email, u.password_change_required_at is not null as password_change_required,
  p.id as project_id, p.slug as project_slug, m.role
from holdfast.sessions as s
join holdfast.users as u on u.id = s.user_id
left join holdfast.projects as p on p.slug = $3::text
left join holdfast.memberships as m on m.project_id = p.id and m.user_id = u.id
where s.id = $1 and s.user_id = $2
  and s.revoked_at is null and s.expires_at > clock_timestamp() and u.disabled_at is null`,
  },
  /** accounts.sql */
  listProjectsOfUser: {
    name: 'list_projects_of_user',
    text: `select p.id, p.slug, p.name, p.created_at, m.role
from holdfast.memberships as m
join holdfast.projects as p on p.id = m.project_id
where m.user_id = $1
order by p.slug`,
  },
  /** accounts.sql */
  insertApiKey: {
    name: 'insert_api_key',
    text: `insert into holdfast.api_keys (project_id, id, name, secret_hash, scopes, created_by, expires_at)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict do nothing
returning id, name, scopes, created_at, last_used_at, expires_at, revoked_at`,
  },
  /** accounts.sql */
  listApiKeys: {
    name: 'list_api_keys',
    text: `select k.id, k.name, k.scopes, k.created_at, k.last_used_at, k.expires_at, k.revoked_at
from holdfast.api_keys as k
where k.project_id = $1 and ($2::text is null or k.id > $2::text)
order by k.id
limit $3`,
  },
  /** accounts.sql */
  findApiKey: {
    name: 'find_api_key',
    text: `select
  k.project_id, p.slug as project_slug, k.name, k.secret_hash, k.scopes,
  k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()) as valid
from holdfast.api_keys as k
join holdfast.projects as p on p.id = k.project_id
where k.id = $1`,
  },
  /** accounts.sql */
  touchApiKey: {
    name: 'touch_api_key',
    text: `update holdfast.api_keys
set last_used_at = clock_timestamp()
where id = $1 and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')`,
  },
  /** accounts.sql */
  revokeApiKey: {
    name: 'revoke_api_key',
    text: `update holdfast.api_keys
set revoked_at = coalesce(revoked_at, clock_timestamp())
where project_id = $1 and id = $2
returning id`,
  },
  /** batches.sql */
  insertBatch: {
    name: 'insert_batch',
    text: `insert into holdfast.batches (project_id, id, kind, name, parent_id, allow_failures, total_count)
values ($1::uuid, $2::uuid, $3::text, $4::text, $5::uuid, $6::boolean, $7::integer)
on conflict do nothing
returning id`,
  },
  /** batches.sql */
  insertBatchCallbacks: {
    name: 'insert_batch_callbacks',
    text: `insert into holdfast.batch_callbacks (project_id, batch_id, role, percent, job_id, job)
select $1::uuid, $2::uuid, n.role, n.percent, n.job_id, n.job::jsonb
from unnest($3::text[], $4::smallint[], $5::uuid[], $6::text[]) as n (role, percent, job_id, job)`,
  },
  /** batches.sql */
  insertDependencies: {
    name: 'insert_dependencies',
    text: `insert into holdfast.job_dependencies (project_id, parent_id, child_id, on_failure, child_delay_ms)
select $1::uuid, n.parent_id, n.child_id, n.on_failure, n.child_delay_ms
from unnest($2::uuid[], $3::uuid[], $4::text[], $5::double precision[])
  as n (parent_id, child_id, on_failure, child_delay_ms)`,
  },
  /** batches.sql */
  lockOpenBatch: {
    name: 'lock_open_batch',
    text: `select b.id, b.finished_at is not null as is_finished, b.cancelled_at is not null as is_cancelled
from holdfast.batches as b
where b.project_id = $1::uuid and b.id = $2::uuid
for no key update`,
  },
  /** batches.sql */
  findOuterDepth: {
    name: 'find_outer_depth',
    text: `with recursive line as (
  select b.parent_id, 1 as depth
  from holdfast.batches as b
  where b.project_id = $1::uuid and b.id = $2::uuid
  union all
  select b.parent_id, line.depth + 1
  from line
  join holdfast.batches as b on b.project_id = $1::uuid and b.id = line.parent_id
  where line.depth < $3::integer
)
select coalesce(max(line.depth), 0)::integer as depth from line`,
  },
  /** batches.sql */
  findBatches: {
    name: 'find_batches',
    text: `select b.id, b.parent_id, b.kind, b.total_count
from holdfast.batches as b
where b.project_id = $1::uuid and b.id = any($2::uuid[])`,
  },
  /** batches.sql */
  findTakenIds: {
    name: 'find_taken_ids',
    text: `select
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
  ) as batch_id`,
  },
  /** batches.sql */
  abortTransaction: {
    name: 'abort_transaction',
    text: `select $1::text::integer as never`,
  },
  /** batches.sql */
  findMembers: {
    name: 'find_members',
    text: `select n.id
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
  )`,
  },
  /** batches.sql */
  countKeptMembers: {
    name: 'count_kept_members',
    text: `select
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
from unnest($2::uuid[]) as n (id)`,
  },
  /** batches.sql */
  growBatch: {
    name: 'grow_batch',
    text: `update holdfast.batches as b
set total_count = b.total_count + $3::integer
where b.project_id = $1::uuid and b.id = $2::uuid`,
  },
  /** batches.sql */
  readBatch: {
    name: 'read_batch',
    text: `select
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
where b.project_id = $1 and b.id = $2`,
  },
  /** batches.sql */
  listBatches: {
    name: 'list_batches',
    text: `select
  b.id, b.kind, b.name, b.parent_id, b.allow_failures, b.total_count, b.completed_count, b.dead_letter_count,
  b.cancelled_count, b.created_at, b.finished_at, b.cancelled_at, '[]'::jsonb as callbacks
from holdfast.batches as b
where b.project_id = $1
  and ($3::uuid is null or (b.created_at, b.id) < (
    select x.created_at, x.id from holdfast.batches as x where x.project_id = $1 and x.id = $3
  ))
  and ($4::text is null or b.kind = $4)
order by b.created_at desc, b.id desc
limit $2`,
  },
  /** batches.sql */
  listBatchDependencies: {
    name: 'list_batch_dependencies',
    text: `select d.parent_id, d.child_id, d.on_failure, d.state
from holdfast.all_jobs as j
join holdfast.job_dependencies as d on d.project_id = j.project_id and d.child_id = j.id
where j.project_id = $1 and j.batch_id = $2
order by d.child_id, d.parent_id`,
  },
  /** batches.sql */
  listBatchJobs: {
    name: 'list_batch_jobs',
    text: `select j.id, j.type, j.status::text as status
from holdfast.all_jobs as j
where j.project_id = $1 and j.batch_id = $2
  and not exists (
    select from holdfast.batch_callbacks as c where c.project_id = j.project_id and c.job_id = j.id
  )
order by j.id`,
  },
  /** batches.sql */
  listParentEdges: {
    name: 'list_parent_edges',
    text: `select d.parent_id, d.child_id, d.on_failure, d.state
from holdfast.job_dependencies as d
where d.project_id = $1 and d.child_id = $2
order by d.parent_id`,
  },
  /** batches.sql */
  listParents: {
    name: 'list_parents',
    text: `select d.parent_id as id, d.state, j.type, j.status, j.result::text as result
from holdfast.job_dependencies as d
left join lateral (
  select a.type, a.status, a.result
  from holdfast.all_jobs as a
  where a.project_id = d.project_id and a.id = d.parent_id
) as j on true
where d.project_id = $1 and d.child_id = $2
order by d.parent_id`,
  },
  /** batches.sql */
  markBatchCancelled: {
    name: 'mark_batch_cancelled',
    text: `update holdfast.batches as b
set cancelled_at = coalesce(b.cancelled_at, clock_timestamp())
where b.project_id = $1 and b.id = $2 and b.finished_at is null
returning b.id`,
  },
  /** batches.sql */
  listInnerBatches: {
    name: 'list_inner_batches',
    text: `select b.id from holdfast.batches as b where b.project_id = $1 and b.parent_id = $2 order by b.id`,
  },
  /** batches.sql */
  listCancellableMembers: {
    name: 'list_cancellable_members',
    text: `select j.id, j.status in ('claimed', 'running') as is_held
from holdfast.jobs as j
where j.project_id = $1 and j.batch_id = $2 and j.status <> 'dead_letter' and j.cancel_requested_at is null
  and j.id > $3::uuid
  and not exists (
    select from holdfast.batch_callbacks as c where c.project_id = j.project_id and c.job_id = j.id
  )
order by j.id
limit $4`,
  },
  /** batches.sql */
  listFailedMembers: {
    name: 'list_failed_members',
    text: `select j.id, j.status
from holdfast.jobs as j
where j.project_id = $1 and j.batch_id = $2 and j.status in ('failed', 'dead_letter') and j.id > $3::uuid
  and not exists (
    select from holdfast.batch_callbacks as c where c.project_id = j.project_id and c.job_id = j.id
  )
order by j.id
limit $4`,
  },
  /** events.sql */
  subscribeEvent: {
    name: 'subscribe_event',
    text: `insert into holdfast.event_subscriptions as s (project_id, id, event, job_type, job)
values ($1::uuid, holdfast.uuid_v7(), $2::text, $3::text, $4::jsonb)
on conflict (project_id, event, job_type) do update set job = excluded.job
returning s.id, s.event, s.job, s.created_at`,
  },
  /** events.sql */
  unsubscribeEvent: {
    name: 'unsubscribe_event',
    text: `delete from holdfast.event_subscriptions where project_id = $1 and id = $2 returning id`,
  },
  /** events.sql */
  listEventSubscriptions: {
    name: 'list_event_subscriptions',
    text: `select s.id, s.event, s.job, s.created_at
from holdfast.event_subscriptions as s
where s.project_id = $1 and ($2::uuid is null or s.id > $2::uuid)
order by s.id
limit $3`,
  },
  /** events.sql */
  findEventSubscriptions: {
    name: 'find_event_subscriptions',
    text: `select s.event, s.job::text as job
from holdfast.event_subscriptions as s
where s.project_id = $1::uuid and s.event = any ($2::text[])
order by s.id`,
  },
  /** events.sql */
  insertEvents: {
    name: 'insert_events',
    text: `insert into holdfast.events (project_id, id, event, data)
select $1::uuid, n.id, n.event, n.data::jsonb
from unnest($2::uuid[], $3::text[], $4::text[]) as n (id, event, data)
on conflict (project_id, id) where job_id is null do nothing
returning id, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at`,
  },
  /** events.sql */
  announceEvents: {
    name: 'announce_events',
    text: `insert into holdfast.events (project_id, event, job_id, data)
select $1::uuid, n.event, n.job_id, n.data::jsonb
from unnest($2::text[], $3::uuid[], $4::text[]) as n (event, job_id, data)
where n.event in (select event from holdfast.event_subscriptions where project_id = $1::uuid)`,
  },
  /** events.sql */
  readOutboxState: {
    name: 'read_outbox_state',
    text: `select
  exists (select from holdfast.events as e where e.position is null) as pending,
  exists (select from holdfast.event_subscriptions) as subscribed`,
  },
  /** events.sql */
  lockDispatch: {
    name: 'lock_dispatch',
    text: `select pg_try_advisory_xact_lock(hashtextextended('holdfast.events dispatch', 0)) as locked`,
  },
  /** events.sql */
  numberEvents: {
    name: 'number_events',
    text: `with pending as materialized (
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
order by n.position`,
  },
  /** events.sql */
  listEvents: {
    name: 'list_events',
    text: `select newest.position as newest_position, e.position, e.id, e.event, e.job_id, e.data, e.occurred_at
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
order by e.position`,
  },
  /** events.sql */
  listNewestPositions: {
    name: 'list_newest_positions',
    text: `select p.id as project_id, newest.position
from unnest($1::uuid[]) as p (id)
cross join lateral (
  select e.position
  from holdfast.events as e
  where e.project_id = p.id and e.position is not null
  order by e.position desc
  limit 1
) as newest`,
  },
  /** events.sql */
  forgetEvents: {
    name: 'forget_events',
    text: `delete from holdfast.events as e
where e.ctid = any (array(
  select x.ctid
  from holdfast.events as x
  where x.occurred_at < statement_timestamp() - $1::double precision * interval '1 millisecond' and x.position is not null
  order by x.occurred_at
  limit $2
))
returning e.seq`,
  },
  /** idempotency.sql */
  takeIdempotencyKey: {
    name: 'take_idempotency_key',
    text: `insert into holdfast.idempotency_keys as k (project_id, key_hash, request_hash)
values ($1, $2, $3)
on conflict (project_id, key_hash) do update
set
  request_hash = excluded.request_hash, response_status = null, response_body = null, created_at = clock_timestamp()
where k.created_at < clock_timestamp() - interval '24 hours'
returning true as taken`,
  },
  /** idempotency.sql */
  readIdempotentResponse: {
    name: 'read_idempotent_response',
    text: `select k.request_hash, k.response_status, k.response_body
from holdfast.idempotency_keys as k
where k.project_id = $1 and k.key_hash = $2`,
  },
  /** idempotency.sql */
  keepIdempotentResponse: {
    name: 'keep_idempotent_response',
    text: `update holdfast.idempotency_keys
set response_status = $3, response_body = $4::jsonb
where project_id = $1 and key_hash = $2`,
  },
  /** job-lifecycle.sql */
  enqueueJobs: {
    name: 'enqueue_jobs',
    text: `with inserted as (
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    schedule_id, fire_at, start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version,
    status, seq, run_at, created_at
  )
  select
    $1::uuid, n.id, n.queue_id, n.type, n.payload::jsonb, n.priority, n.max_attempts, n.timeout_ms, n.retry::jsonb,
    case when n.tags is not null then array(select jsonb_array_elements_text(n.tags::jsonb)) end, n.metadata::jsonb,
    n.schedule_id, n.fire_at,
    holdfast.start_deadline(n.extras), (n.extras ->> 'batchId')::uuid, (n.extras ->> 'eventId')::uuid,
    n.extras -> 'unique', coalesce((n.extras -> 'hasChildren')::boolean, false),
    holdfast.stored_payload_version(n.extras),
    'queued', nextval('holdfast.job_seq'), clock_timestamp(), clock_timestamp()
  from unnest(
    $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::integer[], $8::integer[], $9::text[],
    $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::jsonb[]
  ) as n (
    id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry,
    tags, metadata, schedule_id, fire_at, extras
  )
  on conflict do nothing
  returning id, queue_id, type, attempt, execution_seq, event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobQueued', i.id, jsonb_build_object(
    'type', i.type, 'queue', q.name, 'attempt', i.attempt, 'executionSeq', i.execution_seq
  )
  from inserted as i
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = i.queue_id
  where i.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobQueued')
)
select id from inserted`,
  },
  /** job-lifecycle.sql */
  scheduleJobs: {
    name: 'schedule_jobs',
    text: `with inserted as (
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    schedule_id, fire_at, start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version,
    status, run_at, created_at
  )
  select
    $1::uuid, n.id, n.queue_id, n.type, n.payload::jsonb, n.priority, n.max_attempts, n.timeout_ms, n.retry::jsonb,
    case when n.tags is not null then array(select jsonb_array_elements_text(n.tags::jsonb)) end, n.metadata::jsonb,
    n.schedule_id, n.fire_at,
    holdfast.start_deadline(n.extras), (n.extras ->> 'batchId')::uuid, (n.extras ->> 'eventId')::uuid,
    n.extras -> 'unique', coalesce((n.extras -> 'hasChildren')::boolean, false),
    holdfast.stored_payload_version(n.extras),
    'scheduled',
    greatest(clock_timestamp(), coalesce(n.run_at, clock_timestamp() + n.delay_ms * interval '1 millisecond')),
    clock_timestamp()
  from unnest(
    $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::integer[], $8::integer[], $9::text[],
    $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::jsonb[], $15::timestamptz[],
    $16::double precision[]
  ) as n (
    id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry,
    tags, metadata, schedule_id, fire_at, extras, run_at, delay_ms
  )
  on conflict do nothing
  returning id, queue_id, type, attempt, execution_seq, event_id, run_at
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobScheduled', i.id, jsonb_build_object(
    'type', i.type, 'queue', q.name, 'attempt', i.attempt, 'executionSeq', i.execution_seq,
    'nextDelayMs', greatest(0, round(extract(epoch from i.run_at - clock_timestamp()) * 1000))
  )
  from inserted as i
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = i.queue_id
  where i.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobScheduled')
)
select id from inserted`,
  },
  /** job-lifecycle.sql */
  holdBackJobs: {
    name: 'hold_back_jobs',
    text: `with inserted as (
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    schedule_id, fire_at, start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version,
    status, pending_parents, run_at, created_at
  )
  select
    $1::uuid, n.id, n.queue_id, n.type, n.payload::jsonb, n.priority, n.max_attempts, n.timeout_ms, n.retry::jsonb,
    case when n.tags is not null then array(select jsonb_array_elements_text(n.tags::jsonb)) end, n.metadata::jsonb,
    n.schedule_id, n.fire_at,
    holdfast.start_deadline(n.extras), (n.extras ->> 'batchId')::uuid, (n.extras ->> 'eventId')::uuid,
    n.extras -> 'unique', coalesce((n.extras -> 'hasChildren')::boolean, false),
    holdfast.stored_payload_version(n.extras),
    'scheduled', n.parent_count, 'infinity', clock_timestamp()
  from unnest(
    $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::integer[], $8::integer[], $9::text[],
    $10::text[], $11::text[], $12::uuid[], $13::timestamptz[], $14::jsonb[], $15::integer[]
  ) as n (
    id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry,
    tags, metadata, schedule_id, fire_at, extras, parent_count
  )
  on conflict do nothing
  returning id, queue_id, type, attempt, execution_seq, event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobScheduled', i.id, jsonb_build_object(
    'type', i.type, 'queue', q.name, 'attempt', i.attempt, 'executionSeq', i.execution_seq, 'reason', 'parents_pending'
  )
  from inserted as i
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = i.queue_id
  where i.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobScheduled')
)
select id from inserted`,
  },
  /** job-lifecycle.sql */
  promoteJobs: {
    name: 'promote_jobs',
    text: `with due as materialized (
  select ready.*, nextval('holdfast.job_seq') as seq
  from (
    select ctid as row_id, project_id, id, queue_id, type, attempt, execution_seq, event_id
    from holdfast.jobs
    where status = 'scheduled' and run_at <= clock_timestamp()
    order by run_at
    limit $1
    for no key update skip locked
  ) as ready
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select d.project_id, 'JobQueued', d.id, jsonb_build_object(
    'type', d.type, 'queue', q.name, 'attempt', d.attempt, 'executionSeq', d.execution_seq
  )
  from due as d
  join holdfast.queues as q on q.project_id = d.project_id and q.id = d.queue_id
  where d.event_id is null
    and exists (select from holdfast.event_subscriptions where event = 'JobQueued')
    and exists (select from holdfast.event_subscriptions where project_id = d.project_id and event = 'JobQueued')
)
update holdfast.jobs as j
set status = 'queued', seq = due.seq
from due
where j.ctid = due.row_id
returning j.project_id, j.queue_id`,
  },
  /** job-lifecycle.sql */
  unblockJobs: {
    name: 'unblock_jobs',
    text: `with ready as materialized (
  select j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id, nextval('holdfast.job_seq') as seq
  from unnest($2::uuid[]) as n (id)
  join holdfast.jobs as j on j.project_id = $1 and j.id = n.id
  where j.status = 'scheduled' and j.pending_parents > 0
  order by j.id
  for no key update of j
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', r.id, jsonb_build_object(
    'type', r.type, 'queue', q.name, 'attempt', r.attempt, 'executionSeq', r.execution_seq
  )
  from ready as r
  join holdfast.queues as q on q.project_id = $1 and q.id = r.queue_id
  where r.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
update holdfast.jobs as j
set status = 'queued', pending_parents = 0, seq = ready.seq, run_at = clock_timestamp()
from ready
where j.project_id = $1 and j.id = ready.id
returning j.id, j.queue_id`,
  },
  /** job-lifecycle.sql */
  postponeUnblockedJobs: {
    name: 'postpone_unblocked_jobs',
    text: `with ready as materialized (
  select j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id, n.delay_ms
  from unnest($2::uuid[], $3::double precision[]) as n (id, delay_ms)
  join holdfast.jobs as j on j.project_id = $1 and j.id = n.id
  where j.status = 'scheduled' and j.pending_parents > 0
  order by j.id
  for no key update of j
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobScheduled', r.id, jsonb_build_object(
    'type', r.type, 'queue', q.name, 'attempt', r.attempt, 'executionSeq', r.execution_seq, 'nextDelayMs', r.delay_ms
  )
  from ready as r
  join holdfast.queues as q on q.project_id = $1 and q.id = r.queue_id
  where r.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobScheduled')
)
update holdfast.jobs as j
set pending_parents = 0, run_at = clock_timestamp() + ready.delay_ms * interval '1 millisecond'
from ready
where j.project_id = $1 and j.id = ready.id
returning j.id, j.queue_id`,
  },
  /** job-lifecycle.sql */
  claimJobs: {
    name: 'claim_jobs',
    text: `with lanes as materialized (
  select lane.queue_id, lane.priority, lane.after_seq
  from unnest($2::bigint[], $3::smallint[], $4::bigint[]) with ordinality
    as lane (queue_id, priority, after_seq, position)
  join holdfast.queues as q on q.project_id = $1 and q.id = lane.queue_id
  where q.paused_at is null and q.concurrency is null
  order by lane.position
),
picked as materialized (
  (
    select suspect.row_id
    from lanes
    cross join lateral (
      select j.ctid as row_id
      from holdfast.jobs as j
      where j.queue_id = lanes.queue_id and j.priority = lanes.priority
        and j.status = 'queued' and j.crash_count > 0
        and case
          when j.payload_version is null then j.type = any ($5::text[])
          else j.type || '@' || j.payload_version = any ($5::text[])
        end
      order by j.seq
      limit $7
      for no key update skip locked
    ) as suspect
    limit $7
  )
  union all
  (
    select job.row_id
    from lanes
    cross join lateral (
      select j.ctid as row_id
      from holdfast.jobs as j
      where j.queue_id = lanes.queue_id and j.priority = lanes.priority and j.seq > lanes.after_seq
        and j.status = 'queued' and j.crash_count = 0
        and case
          when j.payload_version is null then j.type = any ($5::text[])
          else j.type || '@' || j.payload_version = any ($5::text[])
        end
        and coalesce(j.start_deadline_at > clock_timestamp() or j.attempt > 0 or j.release_count > 0, true)
      order by j.seq
      limit $6
      for no key update skip locked
    ) as job
    limit $6
  )
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobProcessing', j.id, jsonb_build_object(
    'type', j.type, 'queue', q.name, 'attempt', j.attempt + 1, 'executionSeq', j.execution_seq + 1
  )
  from picked
  join holdfast.jobs as j on j.ctid = picked.row_id
  join holdfast.queues as q on q.project_id = $1 and q.id = j.queue_id
  where j.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobProcessing')
)
update holdfast.jobs as j
set
  status = 'claimed',
  attempt = j.attempt + 1,
  execution_seq = j.execution_seq + 1,
  worker_id = $8,
  lease_token = $9,
  claimed_at = clock_timestamp(),
  lock_expires_at = clock_timestamp() + $10::double precision * interval '1 millisecond',
  progress = null
from picked
where j.ctid = picked.row_id
returning
  j.id, j.queue_id, j.type, j.payload::text, j.priority, j.seq, j.attempt, j.max_attempts, j.execution_seq,
  j.crash_count, j.release_count, j.timeout_ms, j.retry::text, j.metadata::text, j.tags,
  extract(epoch from j.claimed_at - j.run_at)::double precision * 1000 as wait_ms,
  extract(epoch from j.created_at)::double precision * 1000 as created_at_ms,
  extract(epoch from j.claimed_at - j.created_at)::double precision * 1000 as age_ms,
  j.exception_count, j.batch_id, j.has_children, coalesce(j.payload_version, 1)::integer`,
  },
  /** job-lifecycle.sql */
  claimJobsWithinLimit: {
    name: 'claim_jobs_within_limit',
    text: `with headroom as materialized (
  select coalesce((
    select greatest(0, q.concurrency - (
      select count(*)
      from holdfast.jobs as j
      where j.queue_id = q.id and j.status in ('claimed', 'running')
    ))
    from holdfast.queues as q
    where q.project_id = $1 and q.id = $2 and q.paused_at is null and q.concurrency is not null
  ), 0) as free
),
picked as materialized (
  select candidate.row_id
  from (
    (
      select suspect.row_id
      from generate_series(0, 9) as lane (priority)
      cross join lateral (
        select j.ctid as row_id
        from holdfast.jobs as j
        where j.queue_id = $2 and j.priority = lane.priority
          and j.status = 'queued' and j.crash_count > 0
        and case
          when j.payload_version is null then j.type = any ($3::text[])
          else j.type || '@' || j.payload_version = any ($3::text[])
        end
        order by j.seq
        limit least($5::bigint, (select free from headroom))
        for no key update skip locked
      ) as suspect
      limit least($5::bigint, (select free from headroom))
    )
    union all
    (
      select job.row_id
      from generate_series(0, 9) as lane (priority)
      cross join lateral (
        select j.ctid as row_id
        from holdfast.jobs as j
        where j.queue_id = $2 and j.priority = lane.priority
          and j.status = 'queued' and j.crash_count = 0
        and case
          when j.payload_version is null then j.type = any ($3::text[])
          else j.type || '@' || j.payload_version = any ($3::text[])
        end
          and coalesce(j.start_deadline_at > clock_timestamp() or j.attempt > 0 or j.release_count > 0, true)
        order by j.seq
        limit least($4::bigint, (select free from headroom))
        for no key update skip locked
      ) as job
      limit least($4::bigint, (select free from headroom))
    )
  ) as candidate
  limit (select free from headroom)
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobProcessing', j.id, jsonb_build_object(
    'type', j.type, 'queue', q.name, 'attempt', j.attempt + 1, 'executionSeq', j.execution_seq + 1
  )
  from picked
  join holdfast.jobs as j on j.ctid = picked.row_id
  join holdfast.queues as q on q.project_id = $1 and q.id = j.queue_id
  where j.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobProcessing')
)
update holdfast.jobs as j
set
  status = 'claimed',
  attempt = j.attempt + 1,
  execution_seq = j.execution_seq + 1,
  worker_id = $6,
  lease_token = $7,
  claimed_at = clock_timestamp(),
  lock_expires_at = clock_timestamp() + $8::double precision * interval '1 millisecond',
  progress = null
from picked
where j.ctid = picked.row_id
returning
  j.id, j.queue_id, j.type, j.payload::text, j.priority, j.seq, j.attempt, j.max_attempts, j.execution_seq,
  j.crash_count, j.release_count, j.timeout_ms, j.retry::text, j.metadata::text, j.tags,
  extract(epoch from j.claimed_at - j.run_at)::double precision * 1000 as wait_ms,
  extract(epoch from j.created_at)::double precision * 1000 as created_at_ms,
  extract(epoch from j.claimed_at - j.created_at)::double precision * 1000 as age_ms,
  j.exception_count, j.batch_id, j.has_children, coalesce(j.payload_version, 1)::integer`,
  },
  /** job-lifecycle.sql */
  startJobs: {
    name: 'start_jobs',
    text: `update holdfast.jobs as j
set
  status = 'running',
  started_at = greatest(j.claimed_at, statement_timestamp() - s.started_ago_ms * interval '1 millisecond')
from unnest($2::uuid[], $3::uuid[], $4::double precision[]) as s (id, token, started_ago_ms)
where j.project_id = $1 and j.id = s.id and j.lease_token = s.token and j.status = 'claimed'
returning j.id`,
  },
  /** job-lifecycle.sql */
  extendLeases: {
    name: 'extend_leases',
    text: `with named as materialized (
  select n.id, n.token from unnest($2::uuid[], $3::uuid[]) as n (id, token)
),
held as materialized (
  select j.ctid as row_id
  from named
  join holdfast.jobs as j on j.project_id = $1 and j.id = named.id and j.lease_token = named.token
  for no key update of j skip locked
),
extended as (
  update holdfast.jobs as j
  set lock_expires_at = clock_timestamp() + $4::double precision * interval '1 millisecond'
  from held
  where j.ctid = held.row_id
  returning j.id
)
select
  named.id,
  extended.id is not null as extended,
  j.id is null as lost,
  coalesce(j.cancel_requested_at is not null, false) as cancel_requested
from named
left join holdfast.jobs as j on j.project_id = $1 and j.id = named.id and j.lease_token = named.token
left join extended on extended.id = named.id`,
  },
  /** job-lifecycle.sql */
  completeJobs: {
    name: 'complete_jobs',
    text: `with finished as materialized (
  delete from holdfast.jobs as j
  using unnest($2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[])
    as f (id, token, started_ago_ms, finished_ago_ms, result)
  where j.project_id = $1::uuid and j.id = f.id and j.lease_token = f.token
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.cancel_requested_at, j.fire_at, j.project_id, j.id,
    j.worker_id, j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count, j.release_count,
    j.generation, j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error, j.retry, j.progress,
    j.metadata, j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    f.result,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, cancel_requested_at, fire_at, project_id,
    id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, status, priority, type, payload, result, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, begun_at, greatest(begun_at, ended_at), cancel_requested_at,
    fire_at, project_id, id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count,
    generation, pending_parents, timeout_ms, 'completed', priority, type, payload, result::jsonb, last_error, retry,
    progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), project_id, id, worker_id, execution_seq,
    attempt, generation, 'completed'
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'completed', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1::uuid, 'JobProcessed', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq
  )
  from finished as f
  join holdfast.queues as q on q.project_id = $1::uuid and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'JobProcessed')
)
select id from finished`,
  },
  /** job-lifecycle.sql */
  retryJobs: {
    name: 'retry_jobs',
    text: `with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    f.status, f.reason, f.error, f.delay_ms,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::text[], $8::text[],
    $9::double precision[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, status, reason, error, delay_ms)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled',
    run_at = clock_timestamp() + held.delay_ms * interval '1 millisecond',
    last_error = held.error::jsonb,
    exception_count = j.exception_count + case when held.status = 'failed' then 1 else 0 end,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error, next_delay_ms
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, status::holdfast.execution_status, reason, error::jsonb, delay_ms
  from held
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, e.event, h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'error', h.error::jsonb - 'stack' - 'fingerprint', 'nextDelayMs', h.delay_ms
  ))
  from held as h
  cross join lateral (
    values (case h.status when 'timed_out' then 'JobTimedOut' else 'JobExceptionOccurred' end)
  ) as e (event)
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (
      select from holdfast.event_subscriptions
      where project_id = $1 and event in ('JobExceptionOccurred', 'JobTimedOut')
    )
    and e.event in (select event from holdfast.event_subscriptions where project_id = $1)
)
select id from held`,
  },
  /** job-lifecycle.sql */
  failJobs: {
    name: 'fail_jobs',
    text: `with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    f.status, f.reason, f.error,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::text[], $8::text[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, status, reason, error)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'failed', started_at = held.begun_at, finished_at = greatest(held.begun_at, held.ended_at),
    exception_count = j.exception_count + case when held.status = 'failed' then 1 else 0 end,
    last_error = held.error::jsonb, reason = held.reason, lease_token = null, lock_expires_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, status::holdfast.execution_status, reason, error::jsonb
  from held
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, e.event, h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'error', h.error::jsonb - 'stack' - 'fingerprint'
  ))
  from held as h
  cross join lateral (
    values (case h.status when 'timed_out' then 'JobTimedOut' else 'JobExceptionOccurred' end)
  ) as e (event)
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (
      select from holdfast.event_subscriptions
      where project_id = $1 and event in ('JobExceptionOccurred', 'JobTimedOut')
    )
    and e.event in (select event from holdfast.event_subscriptions where project_id = $1)
)
select id from held`,
  },
  /** job-lifecycle.sql */
  deadLetterJobs: {
    name: 'dead_letter_jobs',
    text: `with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    j.batch_id, j.has_children,
    f.status, f.reason, f.error,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::text[], $8::text[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, status, reason, error)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'dead_letter', started_at = held.begun_at, finished_at = greatest(held.begun_at, held.ended_at),
    exception_count = j.exception_count + case when held.status = 'failed' then 1 else 0 end,
    last_error = held.error::jsonb, reason = held.reason, lease_token = null, lock_expires_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, status::holdfast.execution_status, reason, error::jsonb
  from held
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select $1::uuid, id, 'dead_letter', batch_id, has_children
  from held
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, e.event, h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'error', h.error::jsonb - 'stack' - 'fingerprint'
  ))
  from held as h
  cross join lateral (
    values (case h.status when 'timed_out' then 'JobTimedOut' else 'JobExceptionOccurred' end), ('JobFailed')
  ) as e (event)
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (
      select from holdfast.event_subscriptions
      where project_id = $1 and event in ('JobExceptionOccurred', 'JobTimedOut', 'JobFailed')
    )
    and e.event in (select event from holdfast.event_subscriptions where project_id = $1)
)
select id from held`,
  },
  /** job-lifecycle.sql */
  releaseJobs: {
    name: 'release_jobs',
    text: `with held as materialized (
  select
    j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at,
    f.reason, f.delay_ms,
    coalesce(
      j.started_at,
      greatest(j.claimed_at, statement_timestamp() - f.started_ago_ms * interval '1 millisecond')
    ) as begun_at,
    statement_timestamp() - f.finished_ago_ms * interval '1 millisecond' as ended_at
  from unnest(
    $2::uuid[], $3::uuid[], $4::double precision[], $5::double precision[], $6::text[], $7::double precision[]
  ) as f (id, token, started_ago_ms, finished_ago_ms, reason, delay_ms)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled',
    run_at = clock_timestamp() + held.delay_ms * interval '1 millisecond',
    attempt = j.attempt - 1,
    release_count = j.release_count + 1,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, next_delay_ms
  )
  select
    clock_timestamp(), claimed_at, begun_at, greatest(begun_at, ended_at), $1, id, worker_id, execution_seq,
    attempt, generation, 'released', reason, delay_ms
  from held
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobReleased', h.id, jsonb_strip_nulls(jsonb_build_object(
    'type', h.type, 'queue', q.name, 'attempt', h.attempt, 'executionSeq', h.execution_seq,
    'reason', h.reason, 'nextDelayMs', h.delay_ms
  ))
  from held as h
  join holdfast.queues as q on q.project_id = $1 and q.id = h.queue_id
  where h.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobReleased')
)
select id from held`,
  },
  /** job-lifecycle.sql */
  returnJobs: {
    name: 'return_jobs',
    text: `with held as materialized (
  select j.id, j.attempt, j.execution_seq, j.generation, j.worker_id, j.claimed_at, j.started_at, f.reason
  from unnest($2::uuid[], $3::uuid[], $4::text[]) as f (id, token, reason)
  join holdfast.jobs as j on j.project_id = $1 and j.id = f.id and j.lease_token = f.token
  where j.cancel_requested_at is null
  order by j.id
  for no key update of j
),
moved as (
  update holdfast.jobs as j
  set
    status = 'queued', attempt = j.attempt - 1,
    start_deadline_at = case when held.started_at is null then j.start_deadline_at end,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from held
  where j.project_id = $1 and j.id = held.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, greatest(clock_timestamp(), claimed_at, started_at), $1, id, worker_id, execution_seq, attempt,
    generation, 'returned', reason
  from held
)
select id from held`,
  },
  /** job-lifecycle.sql */
  abandonJobs: {
    name: 'abandon_jobs',
    text: `with finished as materialized (
  delete from holdfast.jobs as j
  using unnest($2::uuid[], $3::uuid[], $4::text[]) as f (id, token, error)
  where j.project_id = $1 and j.id = f.id and j.lease_token = f.token and j.cancel_requested_at is not null
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.cancel_requested_at, j.fire_at,
    j.project_id, j.id, j.worker_id, j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count,
    j.release_count, j.generation, j.pending_parents, j.timeout_ms, j.priority, j.type, j.reason, j.payload,
    j.last_error, j.retry, j.progress, j.metadata, j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    f.error,
    greatest(clock_timestamp(), j.claimed_at, j.started_at) as ended_at
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, cancel_requested_at, fire_at, project_id,
    id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at, ended_at, cancel_requested_at, fire_at, project_id, id,
    worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, 'cancelled', priority, type, coalesce(reason, 'cancelled'), payload,
    coalesce(error::jsonb, last_error), retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason, error
  )
  select
    clock_timestamp(), claimed_at, started_at, ended_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'cancelled', 'cancelled', error::jsonb
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq,
    'reason', coalesce(f.reason, 'cancelled')
  )
  from finished as f
  join holdfast.queues as q on q.project_id = $1 and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobCancelled')
)
select id from finished`,
  },
  /** job-lifecycle.sql */
  cancelJobs: {
    name: 'cancel_jobs',
    text: `with picked as materialized (
  select j.id, n.error
  from unnest($2::uuid[], $4::text[]) as n (id, error)
  join holdfast.jobs as j on j.project_id = $1 and j.id = n.id
  where j.status in ('queued', 'scheduled', 'failed')
  order by j.id
  for update of j
),
finished as materialized (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = $1 and j.id = picked.id
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.fire_at, j.project_id, j.id, j.worker_id,
    j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count, j.release_count, j.generation,
    j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error, j.retry, j.progress, j.metadata,
    j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    picked.error
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at,
    greatest(clock_timestamp(), claimed_at, started_at), fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, 'cancelled', priority, type, $3::text, payload,
    coalesce(error::jsonb, last_error), retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq, 'reason', $3::text
  )
  from finished as f
  join holdfast.queues as q on q.project_id = $1 and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobCancelled')
)
select id from finished`,
  },
  /** job-lifecycle.sql */
  expireJobs: {
    name: 'expire_jobs',
    text: `with picked as materialized (
  select j.project_id, j.id
  from holdfast.jobs as j
  where j.start_deadline_at is not null and j.start_deadline_at <= clock_timestamp()
    and j.status in ('queued', 'scheduled')
    and j.attempt = 0 and j.release_count = 0 and j.crash_count = 0
  order by j.start_deadline_at
  limit $1
  for update skip locked
),
finished as materialized (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = picked.project_id and j.id = picked.id
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.fire_at, j.project_id, j.id, j.worker_id,
    j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count, j.release_count, j.generation,
    j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error, j.retry, j.progress, j.metadata,
    j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at,
    greatest(clock_timestamp(), claimed_at, started_at), fire_at, project_id, id, worker_id,
    schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation, pending_parents,
    timeout_ms, 'cancelled', priority, type, 'start_deadline', payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select f.project_id, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq, 'reason', 'start_deadline'
  )
  from finished as f
  join holdfast.queues as q on q.project_id = f.project_id and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = f.project_id and event = 'JobCancelled')
)
select project_id, id from finished`,
  },
  /** job-lifecycle.sql */
  requestCancel: {
    name: 'request_cancel',
    text: `update holdfast.jobs as j
set cancel_requested_at = coalesce(j.cancel_requested_at, clock_timestamp()), reason = $3::text
where j.project_id = $1 and j.id = $2 and j.status in ('claimed', 'running')
returning j.id, j.worker_id`,
  },
  /** job-lifecycle.sql */
  forceCancelJobs: {
    name: 'force_cancel_jobs',
    text: `with picked as materialized (
  select j.project_id, j.id
  from holdfast.jobs as j
  where j.status in ('claimed', 'running') and j.cancel_requested_at is not null
    and (
      j.cancel_requested_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
      or j.lock_expires_at < clock_timestamp()
    )
  limit $2
  for update skip locked
),
finished as materialized (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = picked.project_id and j.id = picked.id
  returning
    j.seq, j.queue_id, j.run_at, j.created_at, j.claimed_at, j.started_at, j.cancel_requested_at, j.fire_at,
    j.project_id, j.id, j.worker_id, j.schedule_id, j.attempt, j.max_attempts, j.execution_seq, j.crash_count,
    j.release_count, j.generation, j.pending_parents, j.timeout_ms, j.priority, j.type, j.payload, j.last_error,
    j.retry, j.progress, j.metadata, j.tags,
    j.start_deadline_at, j.batch_id, j.event_id, j.unique_lock, j.exception_count, j.has_children, j.payload_version,
    greatest(clock_timestamp(), j.claimed_at, j.started_at) as ended_at
),
archived as (
  insert into holdfast.job_history (
    seq, queue_id, run_at, created_at, claimed_at, started_at, finished_at, cancel_requested_at, fire_at, project_id,
    id, worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, status, priority, type, reason, payload, last_error, retry, progress, metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  )
  select
    seq, queue_id, run_at, created_at, claimed_at, started_at, ended_at, cancel_requested_at, fire_at, project_id, id,
    worker_id, schedule_id, attempt, max_attempts, execution_seq, crash_count, release_count, generation,
    pending_parents, timeout_ms, 'cancelled', priority, type, 'cancel_forced', payload, last_error, retry, progress,
    metadata, tags,
    start_deadline_at, batch_id, event_id, unique_lock, exception_count, has_children, payload_version
  from finished
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, finished_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, ended_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'cancelled', 'cancel_forced'
  from finished
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'cancelled', batch_id, has_children
  from finished
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select f.project_id, 'JobCancelled', f.id, jsonb_build_object(
    'type', f.type, 'queue', q.name, 'attempt', f.attempt, 'executionSeq', f.execution_seq, 'reason', 'cancel_forced'
  )
  from finished as f
  join holdfast.queues as q on q.project_id = f.project_id and q.id = f.queue_id
  where f.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = f.project_id and event = 'JobCancelled')
)
select id from finished`,
  },
  /** job-lifecycle.sql */
  reapJobs: {
    name: 'reap_jobs',
    text: `with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status in ('claimed', 'running') and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count = 0
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'queued', attempt = j.attempt - 1, crash_count = j.crash_count + 1,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'lease_expired'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'lease_expired'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked`,
  },
  /** job-lifecycle.sql */
  reapBlamelessJobs: {
    name: 'reap_blameless_jobs',
    text: `with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status = 'claimed' and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count > 0
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'queued', attempt = j.attempt - 1,
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'lease_expired'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'lease_expired'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked`,
  },
  /** job-lifecycle.sql */
  reapSuspectJobs: {
    name: 'reap_suspect_jobs',
    text: `with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status = 'running' and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count between 1 and $4::integer - 2
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled', attempt = j.attempt - 1, crash_count = j.crash_count + 1,
    run_at = clock_timestamp()
      + least($3::double precision * 2 ^ (j.crash_count - 1), 600000) * interval '1 millisecond',
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'lease_expired'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'lease_expired'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked`,
  },
  /** job-lifecycle.sql */
  reapPoisonJobs: {
    name: 'reap_poison_jobs',
    text: `with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at, j.batch_id, j.has_children
  from holdfast.jobs as j
  where j.status = 'running' and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null and j.crash_count >= $3::integer - 1
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'dead_letter', crash_count = j.crash_count + 1, reason = 'poison_pill',
    finished_at = greatest(clock_timestamp(), j.started_at), lease_token = null, lock_expires_at = null,
    last_error = jsonb_build_object(
      'code', 'poison_pill',
      'message', format('The worker died %s times while this job ran', j.crash_count + 1),
      'fingerprint', j.type || ':poison_pill'
    )
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'poison_pill'
  from picked
),
ending as (
  insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
  select project_id, id, 'dead_letter', batch_id, has_children
  from picked
  where batch_id is not null or has_children
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobFailed', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'poison_pill',
    'error', jsonb_build_object('code', 'poison_pill')
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobFailed')
)
select project_id, id, worker_id from picked`,
  },
  /** job-lifecycle.sql */
  reapSpreadJobs: {
    name: 'reap_spread_jobs',
    text: `with picked as materialized (
  select
    j.project_id, j.id, j.queue_id, j.type, j.event_id, j.attempt, j.execution_seq, j.generation, j.worker_id,
    j.claimed_at, j.started_at, j.lock_expires_at
  from holdfast.jobs as j
  where j.status in ('claimed', 'running') and j.lock_expires_at < clock_timestamp()
    and j.cancel_requested_at is null
    and 3 > (
      select count(*)
      from holdfast.job_executions as e
      where e.project_id = j.project_id and e.job_id = j.id and e.generation = j.generation
        and e.reason = 'workers_lost'
    )
    and pg_postmaster_start_time() < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for no key update skip locked
),
moved as (
  update holdfast.jobs as j
  set
    status = 'scheduled', attempt = j.attempt - 1,
    start_deadline_at = case when picked.started_at is null then j.start_deadline_at end,
    run_at = clock_timestamp() + random() * $3::double precision * interval '1 millisecond',
    worker_id = null, lease_token = null, lock_expires_at = null, claimed_at = null, started_at = null
  from picked
  where j.project_id = picked.project_id and j.id = picked.id
),
executed as (
  insert into holdfast.job_executions (
    recorded_at, claimed_at, started_at, lease_lost_at, project_id, job_id, worker_id, execution_seq, attempt,
    generation, status, reason
  )
  select
    clock_timestamp(), claimed_at, started_at, lock_expires_at, project_id, id, worker_id, execution_seq, attempt,
    generation, 'running', 'workers_lost'
  from picked
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select p.project_id, 'JobRescued', p.id, jsonb_build_object(
    'type', p.type, 'queue', q.name, 'attempt', p.attempt, 'executionSeq', p.execution_seq, 'reason', 'workers_lost'
  )
  from picked as p
  join holdfast.queues as q on q.project_id = p.project_id and q.id = p.queue_id
  where p.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = p.project_id and event = 'JobRescued')
)
select project_id, id, worker_id from picked`,
  },
  /** job-lifecycle.sql */
  retryJob: {
    name: 'retry_job',
    text: `with moved as (
  update holdfast.jobs as j
  set
    status = 'queued', seq = nextval('holdfast.job_seq'), run_at = clock_timestamp(),
    attempt = 0, crash_count = 0, release_count = 0, exception_count = 0, generation = j.generation + 1, reason = null,
    start_deadline_at = null, finished_at = null, worker_id = null, claimed_at = null, started_at = null
  where j.project_id = $1 and j.id = $2 and j.status = 'failed'
  returning j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', m.id, jsonb_build_object(
    'type', m.type, 'queue', q.name, 'attempt', m.attempt, 'executionSeq', m.execution_seq
  )
  from moved as m
  join holdfast.queues as q on q.project_id = $1 and q.id = m.queue_id
  where m.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
select id, queue_id from moved`,
  },
  /** job-lifecycle.sql */
  runJobNow: {
    name: 'run_job_now',
    text: `with moved as (
  update holdfast.jobs as j
  set status = 'queued', seq = nextval('holdfast.job_seq'), run_at = clock_timestamp()
  where j.project_id = $1 and j.id = $2 and j.status = 'scheduled' and j.pending_parents = 0
  returning j.id, j.queue_id, j.type, j.attempt, j.execution_seq, j.event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', m.id, jsonb_build_object(
    'type', m.type, 'queue', q.name, 'attempt', m.attempt, 'executionSeq', m.execution_seq
  )
  from moved as m
  join holdfast.queues as q on q.project_id = $1 and q.id = m.queue_id
  where m.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
select id, queue_id from moved`,
  },
  /** job-lifecycle.sql */
  replayJob: {
    name: 'replay_job',
    text: `with moved as (
  update holdfast.jobs as j
  set
    status = 'queued', seq = nextval('holdfast.job_seq'), run_at = clock_timestamp(),
    attempt = 0, crash_count = 0, release_count = 0, exception_count = 0, generation = j.generation + 1, reason = null,
    start_deadline_at = null, finished_at = null, worker_id = null, claimed_at = null, started_at = null
  where j.project_id = $1 and j.id = $2 and j.status = 'dead_letter'
  returning j.id, j.queue_id, j.batch_id, j.has_children, j.type, j.attempt, j.execution_seq, j.event_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobQueued', m.id, jsonb_build_object(
    'type', m.type, 'queue', q.name, 'attempt', m.attempt, 'executionSeq', m.execution_seq
  )
  from moved as m
  join holdfast.queues as q on q.project_id = $1 and q.id = m.queue_id
  where m.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobQueued')
)
select id, queue_id, batch_id, has_children from moved`,
  },
  /** job-lifecycle.sql */
  reviveJobs: {
    name: 'revive_jobs',
    text: `with ended as materialized (
  delete from holdfast.job_history as h
  using unnest($2::uuid[], $3::integer[]) as n (id, parent_count)
  where h.project_id = $1 and h.id = n.id and h.status = 'cancelled' and h.reason = 'parent_failed'
  returning h.*, n.parent_count
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'JobScheduled', e.id, jsonb_build_object(
    'type', e.type, 'queue', q.name, 'attempt', 0, 'executionSeq', e.execution_seq, 'reason', 'parents_pending'
  )
  from ended as e
  join holdfast.queues as q on q.project_id = $1 and q.id = e.queue_id
  where e.event_id is null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'JobScheduled')
)
insert into holdfast.jobs (
  seq, queue_id, run_at, created_at, fire_at, project_id, id, schedule_id, max_attempts, execution_seq, generation,
  pending_parents, timeout_ms, status, priority, type, payload, retry, metadata, tags,
  start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version
)
select
  seq, queue_id, 'infinity', created_at, fire_at, project_id, id, schedule_id, max_attempts, execution_seq, generation + 1,
  parent_count, timeout_ms, 'scheduled', priority, type, payload, retry, metadata, tags,
  start_deadline_at, batch_id, event_id, unique_lock, has_children, payload_version
from ended
returning id, batch_id, has_children`,
  },
  /** job-lifecycle.sql */
  retireDeadLetters: {
    name: 'retire_dead_letters',
    text: `with picked as materialized (
  select j.project_id, j.id
  from holdfast.jobs as j
  where j.status = 'dead_letter'
    and j.finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
  for update skip locked
),
retired as (
  delete from holdfast.jobs as j
  using picked
  where j.project_id = picked.project_id and j.id = picked.id
  returning j.*
),
archived as (
  insert into holdfast.job_history select * from retired
)
select id from retired`,
  },
  /** job-reading.sql */
  readJob: {
    name: 'read_job',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version, j.payload, j.result, j.metadata
from holdfast.all_jobs as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
where j.project_id = $1 and j.id = $2`,
  },
  /** job-reading.sql */
  lookUpJobStatus: {
    name: 'look_up_job_status',
    text: `select j.status from holdfast.all_jobs as j where j.project_id = $1 and j.id = $2`,
  },
  /** job-reading.sql */
  findKnownJobs: {
    name: 'find_known_jobs',
    text: `select k.id, k.status::text as status
from unnest($2::uuid[]) as n (id)
cross join lateral (
  select j.id, j.status from holdfast.jobs as j where j.project_id = $1::uuid and j.id = n.id
  union all
  select h.id, h.status from holdfast.job_history as h where h.project_id = $1::uuid and h.id = n.id
  limit 1
) as k`,
  },
  /** job-reading.sql */
  listJobs: {
    name: 'list_jobs',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
  union all
  (
    select j.*
    from holdfast.job_history as j
    where j.project_id = $1
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3`,
  },
  /** job-reading.sql */
  listJobsOfBatch: {
    name: 'list_jobs_of_batch',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1 and j.batch_id = $12::uuid
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
  union all
  (
    select j.*
    from holdfast.job_history as j
    where j.project_id = $1 and j.batch_id = $12::uuid
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3`,
  },
  /** job-reading.sql */
  listJobsOfKey: {
    name: 'list_jobs_of_key',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1 and j.unique_lock is not null and j.unique_lock ->> 'key' = $12::text
      and ($13::uuid is null or j.batch_id = $13::uuid)
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
  union all
  (
    select j.*
    from holdfast.job_history as j
    where j.project_id = $1 and j.unique_lock is not null and j.unique_lock ->> 'key' = $12::text
      and ($13::uuid is null or j.batch_id = $13::uuid)
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3`,
  },
  /** job-reading.sql */
  listLiveJobs: {
    name: 'list_live_jobs',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3`,
  },
  /** job-reading.sql */
  listLeasedJobs: {
    name: 'list_leased_jobs',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and j.status in ('claimed', 'running')
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3`,
  },
  /** job-reading.sql */
  listRestingJobs: {
    name: 'list_resting_jobs',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version
from (
  (
    select j.*
    from holdfast.jobs as j
    where j.project_id = $1
      and j.status in ('failed', 'dead_letter')
      and ($2::uuid is null or j.id < $2::uuid)
      and ($4::bigint is null or j.queue_id = $4::bigint)
      and ($5::holdfast.job_status[] is null or j.status = any ($5::holdfast.job_status[]))
      and ($6::text is null or j.type = $6::text)
      and ($7::text is null or j.tags @> array[$7::text])
      and ($8::timestamptz is null or j.created_at > $8::timestamptz)
      and ($9::timestamptz is null or j.created_at < $9::timestamptz)
      and ($10::jsonb is null or j.payload @> $10::jsonb)
      and ($11::text is null or strpos(j.payload::text, $11::text) > 0)
    order by j.id desc
    limit $3
  )
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.id desc
limit $3`,
  },
  /** job-reading.sql */
  listDeadLetters: {
    name: 'list_dead_letters',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.priority, j.attempt, j.max_attempts, j.crash_count, j.release_count,
  j.execution_seq, j.generation, j.pending_parents, j.timeout_ms, j.retry, j.tags, j.reason, j.created_at,
  case when isfinite(j.run_at) then j.run_at end as run_at, j.claimed_at, j.started_at, j.finished_at,
  j.cancel_requested_at, j.lock_expires_at, j.worker_id, j.schedule_id, j.batch_id, j.start_deadline_at, j.unique_lock,
  j.last_error, j.progress, coalesce(j.payload_version, 1)::integer as payload_version, j.finished_at::text as finished_at_text
from (
  select j.*
  from holdfast.jobs as j
  where j.project_id = $1 and j.status in ('failed', 'dead_letter') and j.status = 'dead_letter'
    and ($3::text is null or (j.finished_at, j.id) < ($3::text::timestamptz, $4::uuid))
    and ($5::bigint is null or j.queue_id = $5::bigint)
    and ($6::text is null or j.type = $6::text)
    and ($7::text is null or j.last_error ->> 'fingerprint' = $7::text)
  order by j.finished_at desc, j.id desc
  limit $2
) as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
order by j.finished_at desc, j.id desc`,
  },
  /** job-reading.sql */
  listDeadLetterGroups: {
    name: 'list_dead_letter_groups',
    text: `select
  j.last_error ->> 'fingerprint' as fingerprint, j.type, q.name as queue,
  (array_agg(j.last_error ->> 'code' order by j.finished_at desc))[1] as code,
  (array_agg(j.last_error ->> 'message' order by j.finished_at desc))[1] as message,
  count(*)::integer as job_count, min(j.finished_at) as first_seen_at, max(j.finished_at) as last_seen_at,
  (array_agg(j.id order by j.finished_at desc))[1] as sample_job_id
from holdfast.jobs as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
where j.project_id = $1 and j.status in ('failed', 'dead_letter') and j.status = 'dead_letter'
  and ($2::bigint is null or j.queue_id = $2::bigint)
  and ($3::text is null or j.type = $3::text)
group by 1, 2, 3
order by job_count desc, last_seen_at desc
limit $4`,
  },
  /** job-reading.sql */
  listExecutions: {
    name: 'list_executions',
    text: `select
  e.execution_seq, e.attempt, e.generation, e.status, e.worker_id, e.claimed_at, e.started_at, e.finished_at,
  e.lease_lost_at, e.next_delay_ms, e.reason, e.error,
  extract(epoch from e.finished_at - e.started_at)::double precision * 1000 as duration_ms
from holdfast.all_executions as e
where e.project_id = $1 and e.job_id = $2
order by e.execution_seq`,
  },
  /** job-reading.sql */
  listJobLogs: {
    name: 'list_job_logs',
    text: `select l.execution_seq, l.line, l.logged_at, l.level, l.message, l.fields
from holdfast.job_logs as l
where l.project_id = $1 and l.job_id = $2
  and ($3::integer is null or l.execution_seq = $3::integer)
  and (l.execution_seq, l.line) > ($4::integer, $5::integer)
order by l.execution_seq, l.line
limit $6`,
  },
  /** job-writing.sql */
  editJob: {
    name: 'edit_job',
    text: `update holdfast.jobs as j
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
returning j.queue_id`,
  },
  /** job-writing.sql */
  recordProgress: {
    name: 'record_progress',
    text: `update holdfast.jobs as j
set progress = p.progress::jsonb
from unnest($2::uuid[], $3::uuid[], $4::text[]) as p (id, token, progress)
where j.project_id = $1 and j.id = p.id and j.lease_token = p.token`,
  },
  /** job-writing.sql */
  appendLogs: {
    name: 'append_logs',
    text: `insert into holdfast.job_logs (logged_at, project_id, job_id, execution_seq, line, level, message, fields)
select
  statement_timestamp() - l.ago_ms * interval '1 millisecond', $1::uuid, l.id, j.execution_seq, l.line, l.level,
  l.message, l.fields::jsonb
from unnest(
  $2::uuid[], $3::uuid[], $4::double precision[], $5::integer[], $6::text[], $7::text[], $8::text[]
) as l (id, token, ago_ms, line, level, message, fields)
join holdfast.jobs as j on j.project_id = $1 and j.id = l.id and j.lease_token = l.token
on conflict do nothing`,
  },
  /** job-writing.sql */
  findStoredEnds: {
    name: 'find_stored_ends',
    text: `select e.job_id as id
from unnest($2::uuid[], $3::integer[]) as n (id, execution_seq)
join holdfast.job_executions as e
  on e.project_id = $1 and e.job_id = n.id and e.execution_seq = n.execution_seq
where e.worker_id = $4 and e.status <> 'running' and e.reason is distinct from 'cancel_forced'`,
  },
  /** job-writing.sql */
  recordLateResult: {
    name: 'record_late_result',
    text: `insert into holdfast.job_late_results (project_id, job_id, execution_seq, status, result, error)
select $1::uuid, $2::uuid, $3::integer, $4::holdfast.execution_status, $5::jsonb, $6::jsonb
where exists (
  select 1
  from holdfast.job_executions as e
  where e.project_id = $1::uuid and e.job_id = $2::uuid and e.execution_seq = $3::integer
    and e.worker_id = $7::uuid
)
on conflict do nothing`,
  },
  /** maintenance.sql */
  nextDueIn: {
    name: 'next_due_in',
    text: `select extract(epoch from least(
  (select min(j.run_at) from holdfast.jobs as j where j.status = 'scheduled' and j.run_at < 'infinity'),
  (
    select min(j.start_deadline_at)
    from holdfast.jobs as j
    where j.start_deadline_at is not null and j.status in ('queued', 'scheduled')
      and j.attempt = 0 and j.release_count = 0 and j.crash_count = 0
  ),
  (select min(q.paused_until) from holdfast.queues as q)
) - clock_timestamp())::double precision * 1000 as due_in_ms`,
  },
  /** maintenance.sql */
  observeTimeline: {
    name: 'observe_timeline',
    text: `with seen as (
  insert into holdfast.settings (key, value)
  values (
    'timeline',
    jsonb_build_object(
      'id', case when pg_is_in_recovery() then null else left(pg_walfile_name(pg_current_wal_lsn()), 8) end,
      'first', true
    )
  )
  on conflict (key) do update
  set
    value = jsonb_build_object('id', excluded.value -> 'id', 'first', false),
    updated_at = case
      when holdfast.settings.value -> 'id' is distinct from excluded.value -> 'id' then clock_timestamp()
      else holdfast.settings.updated_at
    end
  where holdfast.settings.value -> 'id' is distinct from excluded.value -> 'id'
  returning value, updated_at
)
select extract(epoch from clock_timestamp() - s.updated_at)::double precision * 1000 as unchanged_for_ms,
  (s.value ->> 'first')::boolean as first
from (
  select value, updated_at from seen
  union all
  select value, updated_at from holdfast.settings where key = 'timeline' and not exists (select 1 from seen)
) as s`,
  },
  /** maintenance.sql */
  recordStats: {
    name: 'record_stats',
    text: `insert into holdfast.stats_minutely as s (
  project_id, queue_id, minute, shard, completed_count, failed_count, dead_letter_count, cancelled_count, wait_ms_sum,
  run_ms_sum, wait_buckets, run_buckets
)
select
  $1::uuid, n.queue_id, date_trunc('minute', clock_timestamp()), $2::uuid, n.completed, n.failed, n.dead_letter,
  n.cancelled, n.wait_ms, n.run_ms, n.wait_buckets::bigint[], n.run_buckets::bigint[]
from unnest(
  $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::double precision[], $9::double precision[],
  $10::text[], $11::text[]
) as n (queue_id, completed, failed, dead_letter, cancelled, wait_ms, run_ms, wait_buckets, run_buckets)
on conflict (project_id, minute, queue_id, shard) do update
set
  completed_count = s.completed_count + excluded.completed_count,
  failed_count = s.failed_count + excluded.failed_count,
  dead_letter_count = s.dead_letter_count + excluded.dead_letter_count,
  cancelled_count = s.cancelled_count + excluded.cancelled_count,
  wait_ms_sum = s.wait_ms_sum + excluded.wait_ms_sum,
  run_ms_sum = s.run_ms_sum + excluded.run_ms_sum,
  wait_buckets = holdfast.add_counts(s.wait_buckets, excluded.wait_buckets),
  run_buckets = holdfast.add_counts(s.run_buckets, excluded.run_buckets)`,
  },
  /** maintenance.sql */
  mergeStats: {
    name: 'merge_stats',
    text: `with old as (
  delete from holdfast.stats_minutely
  where shard <> '00000000-0000-0000-0000-000000000000'
    and minute < date_trunc('minute', clock_timestamp()) - interval '2 minutes'
  returning *
)
insert into holdfast.stats_minutely as s (
  project_id, queue_id, minute, shard, completed_count, failed_count, dead_letter_count, cancelled_count, wait_ms_sum,
  run_ms_sum, wait_buckets, run_buckets
)
select
  project_id, queue_id, minute, '00000000-0000-0000-0000-000000000000', sum(completed_count), sum(failed_count),
  sum(dead_letter_count), sum(cancelled_count), sum(wait_ms_sum), sum(run_ms_sum), holdfast.sum_counts(wait_buckets),
  holdfast.sum_counts(run_buckets)
from old
group by project_id, queue_id, minute
on conflict (project_id, minute, queue_id, shard) do update
set
  completed_count = s.completed_count + excluded.completed_count,
  failed_count = s.failed_count + excluded.failed_count,
  dead_letter_count = s.dead_letter_count + excluded.dead_letter_count,
  cancelled_count = s.cancelled_count + excluded.cancelled_count,
  wait_ms_sum = s.wait_ms_sum + excluded.wait_ms_sum,
  run_ms_sum = s.run_ms_sum + excluded.run_ms_sum,
  wait_buckets = holdfast.add_counts(s.wait_buckets, excluded.wait_buckets),
  run_buckets = holdfast.add_counts(s.run_buckets, excluded.run_buckets)`,
  },
  /** maintenance.sql */
  forgetStats: {
    name: 'forget_stats',
    text: `delete from holdfast.stats_minutely
where minute < clock_timestamp() - $1::double precision * interval '1 millisecond'`,
  },
  /** maintenance.sql */
  listPartitions: {
    name: 'list_partitions',
    text: `select c.relname as name, substring(c.relname from '\\d{8}$') as day
from pg_inherits as i
join pg_class as c on c.oid = i.inhrelid
where i.inhparent = to_regclass('holdfast.' || $1::text) and c.relname ~ '_\\d{8}$'
order by c.relname`,
  },
  /** maintenance.sql */
  countUnpartitioned: {
    name: 'count_unpartitioned',
    text: `select
  (select count(*) from holdfast.job_history_default where status <> 'dead_letter' and finished_at > clock_timestamp() - interval '1 day')
  + (select count(*) from holdfast.job_executions_default where recorded_at > clock_timestamp() - interval '1 day')
  + (select count(*) from holdfast.job_logs_default where logged_at > clock_timestamp() - interval '1 day') as row_count`,
  },
  /** maintenance.sql */
  forgetUnpartitionedHistory: {
    name: 'forget_unpartitioned_history',
    text: `delete from holdfast.job_history_default as h
using (
  select project_id, id, finished_at
  from holdfast.job_history_default
  where finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where h.project_id = old.project_id and h.id = old.id and h.finished_at = old.finished_at
returning h.id`,
  },
  /** maintenance.sql */
  forgetUnpartitionedExecutions: {
    name: 'forget_unpartitioned_executions',
    text: `delete from holdfast.job_executions_default as e
using (
  select x.project_id, x.job_id, x.execution_seq, x.recorded_at
  from holdfast.job_executions_default as x
  where x.recorded_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
    and not exists (select 1 from holdfast.jobs as j where j.project_id = x.project_id and j.id = x.job_id)
    and not exists (select 1 from holdfast.job_history as h where h.project_id = x.project_id and h.id = x.job_id)
  limit $2
) as old
where e.project_id = old.project_id and e.job_id = old.job_id and e.execution_seq = old.execution_seq
  and e.recorded_at = old.recorded_at
returning e.job_id`,
  },
  /** maintenance.sql */
  forgetUnpartitionedLogs: {
    name: 'forget_unpartitioned_logs',
    text: `delete from holdfast.job_logs_default as l
using (
  select x.project_id, x.job_id, x.execution_seq, x.line, x.logged_at
  from holdfast.job_logs_default as x
  where x.logged_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
    and not exists (select 1 from holdfast.jobs as j where j.project_id = x.project_id and j.id = x.job_id)
    and not exists (select 1 from holdfast.job_history as h where h.project_id = x.project_id and h.id = x.job_id)
  limit $2
) as old
where l.project_id = old.project_id and l.job_id = old.job_id and l.execution_seq = old.execution_seq
  and l.line = old.line and l.logged_at = old.logged_at
returning l.job_id`,
  },
  /** maintenance.sql */
  forgetBatches: {
    name: 'forget_batches',
    text: `with old as materialized (
  select b.project_id, b.id
  from holdfast.projects as p
  cross join lateral (
    select x.project_id, x.id
    from holdfast.batches as x
    where x.project_id = p.id
      and x.created_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
      and x.finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
      and not exists (select from holdfast.jobs as j where j.project_id = p.id and j.batch_id = x.id)
      and not exists (select from holdfast.batches as i where i.project_id = p.id and i.parent_id = x.id)
    order by x.created_at
    limit $2
  ) as b
  limit $2
),
callbacks as (
  delete from holdfast.batch_callbacks as c
  using old
  where c.project_id = old.project_id and c.batch_id = old.id
)
delete from holdfast.batches as b
using old
where b.project_id = old.project_id and b.id = old.id
returning b.id`,
  },
  /** maintenance.sql */
  forgetDependencies: {
    name: 'forget_dependencies',
    text: `delete from holdfast.job_dependencies as d
using (
  select x.project_id, x.parent_id, x.child_id
  from holdfast.job_dependencies as x
  where x.created_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
    and not exists (select from holdfast.jobs as j where j.project_id = x.project_id and j.id = x.child_id)
    and not exists (select from holdfast.jobs as j where j.project_id = x.project_id and j.id = x.parent_id)
    and not exists (select from holdfast.job_history as h where h.project_id = x.project_id and h.id = x.child_id)
    and not exists (select from holdfast.job_history as h where h.project_id = x.project_id and h.id = x.parent_id)
  order by x.created_at
  limit $2
) as old
where d.project_id = old.project_id and d.parent_id = old.parent_id and d.child_id = old.child_id
returning d.child_id as id`,
  },
  /** maintenance.sql */
  forgetLateResults: {
    name: 'forget_late_results',
    text: `delete from holdfast.job_late_results as r
using (
  select x.project_id, x.job_id, x.execution_seq
  from holdfast.job_late_results as x
  where x.recorded_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
    and not exists (select 1 from holdfast.jobs as j where j.project_id = x.project_id and j.id = x.job_id)
    and not exists (select 1 from holdfast.job_history as h where h.project_id = x.project_id and h.id = x.job_id)
  limit $2
) as old
where r.project_id = old.project_id and r.job_id = old.job_id and r.execution_seq = old.execution_seq
returning r.job_id`,
  },
  /** maintenance.sql */
  forgetIdempotencyKeys: {
    name: 'forget_idempotency_keys',
    text: `delete from holdfast.idempotency_keys as k
using (
  select project_id, key_hash
  from holdfast.idempotency_keys
  where created_at < clock_timestamp() - interval '24 hours'
  limit $1
) as old
where k.project_id = old.project_id and k.key_hash = old.key_hash
returning k.project_id`,
  },
  /** maintenance.sql */
  readServer: {
    name: 'read_server',
    text: `select
  current_setting('server_version_num')::integer as version_number,
  current_setting('server_version') as version,
  current_setting('fsync') = 'on' as fsync,
  current_setting('full_page_writes') = 'on' as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('synchronous_standby_names') as synchronous_standby_names,
  current_setting('data_checksums') = 'on' as data_checksums,
  pg_is_in_recovery() as in_recovery,
  pg_postmaster_start_time() as started_at,
  extract(epoch from clock_timestamp())::double precision * 1000 as now_ms`,
  },
  /** payload-contracts.sql */
  registerPayloadContracts: {
    name: 'register_payload_contracts',
    text: `with given as materialized (
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
order by k.type, k.version`,
  },
  /** payload-contracts.sql */
  listPayloadContracts: {
    name: 'list_payload_contracts',
    text: `select c.type, c.version::integer as version, c.json_schema, c.fingerprint, c.first_seen_at, c.last_seen_at
from holdfast.payload_contracts as c
where c.project_id = $1::uuid
order by c.type, c.version`,
  },
  /** payload-contracts.sql */
  countWaitingPayloads: {
    name: 'count_waiting_payloads',
    text: `select j.type, coalesce(j.payload_version, 1)::integer as version, count(*)::integer as job_count
from holdfast.jobs as j
where j.project_id = $1::uuid and j.status in ('queued', 'scheduled', 'claimed', 'running', 'failed')
group by 1, 2
order by 1, 2`,
  },
  /** payload-contracts.sql */
  listWaitingPayloads: {
    name: 'list_waiting_payloads',
    text: `select j.id, j.type, coalesce(j.payload_version, 1)::integer as version, j.payload::text as payload
from holdfast.jobs as j
where j.project_id = $1::uuid and ($2::uuid is null or j.id > $2::uuid)
  and j.status in ('queued', 'scheduled', 'claimed', 'running', 'failed')
  and case
    when j.payload_version is null then j.type = any ($4::text[])
    else j.type || '@' || j.payload_version = any ($4::text[])
  end
order by j.id
limit $3`,
  },
  /** queues.sql */
  findProject: {
    name: 'find_project',
    text: `select id, slug, name, created_at from holdfast.projects where slug = $1`,
  },
  /** queues.sql */
  ensureQueues: {
    name: 'ensure_queues',
    text: `with wanted as (
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
where q.project_id = $1::uuid and q.deleted_at is null`,
  },
  /** queues.sql */
  findQueues: {
    name: 'find_queues',
    text: `select q.id::text as id, q.name, q.job_defaults::text as job_defaults
from holdfast.queues as q
where q.project_id = $1::uuid and q.name = any ($2::text[]) and q.deleted_at is null`,
  },
  /** queues.sql */
  listClaimableQueues: {
    name: 'list_claimable_queues',
    text: `select q.id, q.name, q.concurrency, q.paused_at is not null as paused
from holdfast.queues as q
where q.project_id = $1 and ($2::text[] is null or q.name = any ($2::text[]))
  and (
    q.deleted_at is null
    or exists (select 1 from holdfast.jobs as j where j.queue_id = q.id and j.status = 'queued')
  )
order by q.id`,
  },
  /** queues.sql */
  lockQueue: {
    name: 'lock_queue',
    text: `select id from holdfast.queues where project_id = $1 and id = $2 for no key update`,
  },
  /** queues.sql */
  createQueue: {
    name: 'create_queue',
    text: `insert into holdfast.queues (project_id, name, concurrency, job_defaults)
values ($1, $2, $3, coalesce($4::jsonb, '{}'))
on conflict (project_id, name) do update
set
  concurrency = excluded.concurrency, job_defaults = excluded.job_defaults, deleted_at = null,
  updated_at = clock_timestamp(), revision = holdfast.queues.revision + 1
where holdfast.queues.deleted_at is not null
returning id`,
  },
  /** queues.sql */
  updateQueue: {
    name: 'update_queue',
    text: `update holdfast.queues as q
set
  concurrency = case when $3::boolean then $4::integer else q.concurrency end,
  job_defaults = case when $5::boolean then $6::jsonb else q.job_defaults end,
  updated_at = clock_timestamp(),
  revision = q.revision + 1
where q.project_id = $1 and q.name = $2 and q.deleted_at is null
  and ($7::bigint is null or q.revision = $7::bigint)
returning q.id, q.revision`,
  },
  /** queues.sql */
  pauseQueue: {
    name: 'pause_queue',
    text: `with paused as (
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
select id from paused`,
  },
  /** queues.sql */
  resumeQueue: {
    name: 'resume_queue',
    text: `with resumed as (
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
select id from resumed`,
  },
  /** queues.sql */
  resumeExpiredPauses: {
    name: 'resume_expired_pauses',
    text: `with resumed as (
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
select project_id, id as queue_id from resumed`,
  },
  /** queues.sql */
  deleteQueue: {
    name: 'delete_queue',
    text: `update holdfast.queues as q
set
  deleted_at = clock_timestamp(),
  paused_at = null, paused_by = null, paused_reason = null, paused_until = null,
  updated_at = clock_timestamp(), revision = q.revision + 1
where q.project_id = $1 and q.name = $2 and q.deleted_at is null
  and not exists (select 1 from holdfast.jobs as j where j.project_id = $1 and j.queue_id = q.id)
returning q.id`,
  },
  /** queues.sql */
  beginPurge: {
    name: 'begin_purge',
    text: `select clock_timestamp()::text as begun_at`,
  },
  /** queues.sql */
  listPurgeableJobs: {
    name: 'list_purgeable_jobs',
    text: `select j.id
from holdfast.jobs as j
where j.project_id = $1 and j.queue_id = $2 and j.status in ('queued', 'scheduled') and j.created_at <= $4::timestamptz
order by j.id
limit $3`,
  },
  /** schedules.sql */
  insertSchedule: {
    name: 'insert_schedule',
    text: `insert into holdfast.schedules (
  project_id, id, name, cron, every_ms, anchor_at, timezone, job, catch_up, catch_up_window_ms, overlap, next_fire_at
)
values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12)
on conflict (project_id, name) do nothing
returning id`,
  },
  /** schedules.sql */
  updateSchedule: {
    name: 'update_schedule',
    text: `update holdfast.schedules as s
set
  cron = $3, every_ms = $4, anchor_at = $5, timezone = $6, job = $7::jsonb, catch_up = $8, catch_up_window_ms = $9,
  overlap = $10, next_fire_at = $11, updated_at = clock_timestamp(), revision = s.revision + 1
where s.project_id = $1 and s.id = $2 and ($12::bigint is null or s.revision = $12::bigint)
returning s.id, s.revision`,
  },
  /** schedules.sql */
  deleteSchedule: {
    name: 'delete_schedule',
    text: `delete from holdfast.schedules where project_id = $1 and id = $2 returning id`,
  },
  /** schedules.sql */
  pauseSchedule: {
    name: 'pause_schedule',
    text: `update holdfast.schedules as s
set
  paused_at = coalesce(s.paused_at, clock_timestamp()), paused_by = $3, paused_reason = $4,
  updated_at = clock_timestamp(), revision = s.revision + 1
where s.project_id = $1 and s.id = $2
returning s.id`,
  },
  /** schedules.sql */
  resumeSchedule: {
    name: 'resume_schedule',
    text: `update holdfast.schedules as s
set
  paused_at = null, paused_by = null, paused_reason = null, next_fire_at = $3,
  updated_at = clock_timestamp(), revision = s.revision + 1
where s.project_id = $1 and s.id = $2
returning s.id`,
  },
  /** schedules.sql */
  readSchedule: {
    name: 'read_schedule',
    text: `select
  s.id, s.name, s.cron, s.every_ms, s.anchor_at, s.timezone, s.job, s.catch_up, s.catch_up_window_ms, s.overlap,
  s.paused_at, s.paused_by, s.paused_reason, s.next_fire_at, s.created_at, s.updated_at, s.revision,
  f.fire_at as last_fire_at, f.outcome as last_outcome, f.job_id as last_job_id
from holdfast.schedules as s
left join lateral (
  select fire_at, outcome, job_id
  from holdfast.schedule_fires
  where project_id = s.project_id and schedule_id = s.id
  order by fire_at desc
  limit 1
) as f on true
where s.project_id = $1 and s.id = $2`,
  },
  /** schedules.sql */
  listSchedules: {
    name: 'list_schedules',
    text: `select
  s.id, s.name, s.cron, s.every_ms, s.anchor_at, s.timezone, s.job, s.catch_up, s.catch_up_window_ms, s.overlap,
  s.paused_at, s.paused_by, s.paused_reason, s.next_fire_at, s.created_at, s.updated_at, s.revision,
  f.fire_at as last_fire_at, f.outcome as last_outcome, f.job_id as last_job_id
from holdfast.schedules as s
left join lateral (
  select fire_at, outcome, job_id
  from holdfast.schedule_fires
  where project_id = s.project_id and schedule_id = s.id
  order by fire_at desc
  limit 1
) as f on true
where s.project_id = $1 and ($2::text is null or s.name > $2::text)
order by s.name
limit $3`,
  },
  /** schedules.sql */
  listFires: {
    name: 'list_fires',
    text: `select f.fire_at, f.outcome, f.job_id, f.recorded_at
from holdfast.schedule_fires as f
where f.project_id = $1 and f.schedule_id = $2 and ($3::timestamptz is null or f.fire_at < $3::timestamptz)
order by f.fire_at desc
limit $4`,
  },
  /** schedules.sql */
  lockDueSchedules: {
    name: 'lock_due_schedules',
    text: `select
  s.project_id, s.id, s.name, s.cron, s.every_ms, s.anchor_at, s.timezone, s.job, s.catch_up, s.catch_up_window_ms,
  s.overlap, s.next_fire_at, s.paused_at is not null as paused,
  clock_timestamp() + $2::double precision * interval '1 millisecond' as now
from holdfast.schedules as s
where s.next_fire_at <= clock_timestamp() + $2::double precision * interval '1 millisecond'
order by s.next_fire_at
limit $1
for no key update skip locked`,
  },
  /** schedules.sql */
  hasUnfinishedJob: {
    name: 'has_unfinished_job',
    text: `select exists (
  select 1
  from holdfast.jobs as j
  where j.schedule_id = $2 and j.project_id = $1 and j.status in ('queued', 'scheduled', 'claimed', 'running')
) as unfinished`,
  },
  /** schedules.sql */
  recordFire: {
    name: 'record_fire',
    text: `with recorded as (
  insert into holdfast.schedule_fires (project_id, schedule_id, fire_at, outcome, job_id)
  values ($1, $2, $3, $4, $5)
  on conflict do nothing
  returning fire_at, outcome, job_id
),
announced as (
  insert into holdfast.events (project_id, event, job_id, data)
  select $1, 'ScheduleFired', r.job_id, jsonb_build_object(
    'schedule', s.name, 'scheduleId', s.id, 'fireAt', r.fire_at, 'reason', r.outcome
  )
  from recorded as r
  join holdfast.schedules as s on s.project_id = $1 and s.id = $2
  where r.job_id is not null
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'ScheduleFired')
)
select fire_at from recorded`,
  },
  /** schedules.sql */
  recordUnfired: {
    name: 'record_unfired',
    text: `with recorded as (
  insert into holdfast.schedule_fires (project_id, schedule_id, fire_at, outcome)
  select $1::uuid, $2::uuid, n.fire_at, $4::text
  from unnest($3::timestamptz[]) as n (fire_at)
  on conflict do nothing
  returning fire_at
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select $1::uuid, 'ScheduleMissed', jsonb_build_object(
    'schedule', s.name, 'scheduleId', s.id, 'count', r.count, 'firstFireAt', r.first_at, 'lastFireAt', r.last_at
  )
  from (select count(*) as count, min(fire_at) as first_at, max(fire_at) as last_at from recorded) as r
  join holdfast.schedules as s on s.project_id = $1::uuid and s.id = $2::uuid
  where $4::text = 'missed' and r.count > 0
    and exists (select from holdfast.event_subscriptions where project_id = $1::uuid and event = 'ScheduleMissed')
)
select fire_at from recorded`,
  },
  /** schedules.sql */
  advanceSchedule: {
    name: 'advance_schedule',
    text: `update holdfast.schedules set next_fire_at = $3 where project_id = $1 and id = $2`,
  },
  /** schedules.sql */
  nextFireIn: {
    name: 'next_fire_in',
    text: `select extract(epoch from min(s.next_fire_at) - clock_timestamp())::double precision * 1000 as due_in_ms
from holdfast.schedules as s`,
  },
  /** schedules.sql */
  forgetFires: {
    name: 'forget_fires',
    text: `delete from holdfast.schedule_fires as f
using (
  select project_id, schedule_id, fire_at
  from holdfast.schedule_fires
  where recorded_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where f.project_id = old.project_id and f.schedule_id = old.schedule_id and f.fire_at = old.fire_at
returning f.fire_at`,
  },
  /** settling.sql */
  holdBatches: {
    name: 'hold_batches',
    text: `with line as materialized (
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
left join held on held.project_id = wanted.project_id and held.id = wanted.batch_id`,
  },
  /** settling.sql */
  holdBatch: {
    name: 'hold_batch',
    text: `select b.id from holdfast.batches as b where b.project_id = $1::uuid and b.id = $2::uuid for no key update`,
  },
  /** settling.sql */
  takeMemberEndings: {
    name: 'take_member_endings',
    text: `with line as materialized (
  select e.ctid as row_id, e.id, e.project_id, e.job_id, e.status, e.batch_id, e.has_children
  from holdfast.job_endings as e
  where
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
group by line.project_id, line.batch_id`,
  },
  /** settling.sql */
  pickParentEndings: {
    name: 'pick_parent_endings',
    text: `select e.id::text as id, e.project_id, e.job_id, e.status::text as status, e.batch_id
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
for update skip locked`,
  },
  /** settling.sql */
  holdChildren: {
    name: 'hold_children',
    text: `with recursive edge as (
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
where held.id is null`,
  },
  /** settling.sql */
  removeEndings: {
    name: 'remove_endings',
    text: `delete from holdfast.job_endings as e using unnest($1::bigint[]) as n (id) where e.id = n.id`,
  },
  /** settling.sql */
  postponeEnding: {
    name: 'postpone_ending',
    text: `update holdfast.job_endings as e set id = default where e.id = $1::bigint`,
  },
  /** settling.sql */
  dropEndings: {
    name: 'drop_endings',
    text: `delete from holdfast.job_endings as e
using unnest($2::uuid[]) as n (id)
where e.project_id = $1::uuid and e.job_id = n.id
returning e.job_id as id`,
  },
  /** settling.sql */
  settleDependencies: {
    name: 'settle_dependencies',
    text: `with recursive ended as (
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
returning d.parent_id, d.child_id, d.on_failure, d.state`,
  },
  /** settling.sql */
  countDownParents: {
    name: 'count_down_parents',
    text: `with held as materialized (
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
from held`,
  },
  /** settling.sql */
  countBatchEnds: {
    name: 'count_batch_ends',
    text: `with locked as materialized (
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
  b.reported_status::text as reported_status`,
  },
  /** settling.sql */
  listOpenCallbacks: {
    name: 'list_open_callbacks',
    text: `select
  c.batch_id, c.role, c.percent::integer as percent, c.job_id, c.enqueued_at is not null as is_enqueued, c.ended_at is not null as has_ended,
  case when c.enqueued_at is null then c.job::text end as job
from unnest($2::uuid[]) as n (id)
join holdfast.batch_callbacks as c on c.project_id = $1::uuid and c.batch_id = n.id
order by c.batch_id, c.role, c.percent`,
  },
  /** settling.sql */
  renameCallbacks: {
    name: 'rename_callbacks',
    text: `update holdfast.batch_callbacks as c
set job_id = n.new_id
from unnest($2::uuid[], $3::uuid[]) as n (id, new_id)
where c.project_id = $1::uuid and c.job_id = n.id`,
  },
  /** settling.sql */
  markCallbacksEnqueued: {
    name: 'mark_callbacks_enqueued',
    text: `update holdfast.batch_callbacks as c
set enqueued_at = clock_timestamp()
from unnest($2::uuid[]) as n (id)
where c.project_id = $1::uuid and c.job_id = n.id`,
  },
  /** settling.sql */
  markBatchesFinished: {
    name: 'mark_batches_finished',
    text: `update holdfast.batches as b
set finished_at = clock_timestamp()
from unnest($2::uuid[]) as n (id)
where b.project_id = $1::uuid and b.id = n.id and b.finished_at is null`,
  },
  /** settling.sql */
  reportBatchEnds: {
    name: 'report_batch_ends',
    text: `with reported as (
  update holdfast.batches as b
  set reported_status = n.status::holdfast.job_status
  from unnest($2::uuid[], $3::text[]) as n (id, status)
  where b.project_id = $1::uuid and b.id = n.id and b.parent_id is not null and b.reported_status is null
  returning b.id, b.parent_id, b.reported_status
)
insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
select $1::uuid, id, reported_status, parent_id, false
from reported`,
  },
  /** settling.sql */
  listCancelledBelow: {
    name: 'list_cancelled_below',
    text: `with recursive below as (
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
group by below.id, below.has_key`,
  },
  /** settling.sql */
  reopenDependencies: {
    name: 'reopen_dependencies',
    text: `update holdfast.job_dependencies as d
set state = 'waiting'
from unnest($2::uuid[]) as n (id)
where d.project_id = $1::uuid and d.parent_id = n.id and d.state = 'broken' and d.on_failure <> 'run'`,
  },
  /** settling.sql */
  countOpenParents: {
    name: 'count_open_parents',
    text: `select d.child_id as id, count(*)::integer as parent_count
from unnest($2::uuid[]) as n (id)
join holdfast.job_dependencies as d on d.project_id = $1::uuid and d.child_id = n.id
where d.state = 'waiting' or (d.state = 'broken' and d.on_failure <> 'run')
group by d.child_id`,
  },
  /** settling.sql */
  findMemberships: {
    name: 'find_memberships',
    text: `select m.id, m.batch_id
from unnest($2::uuid[], $3::uuid[]) as m (id, batch_id)
where not exists (
  select from holdfast.batch_callbacks as c where c.project_id = $1::uuid and c.job_id = m.id
)`,
  },
  /** settling.sql */
  reopenBatch: {
    name: 'reopen_batch',
    text: `with locked as materialized (
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
returning locked.parent_id, locked.reported_status::text as reported_status`,
  },
  /** stats.sql */
  listQueues: {
    name: 'list_queues',
    text: `select
  q.id, q.name, q.concurrency, q.job_defaults, q.paused_at, q.paused_by, q.paused_reason, q.paused_until,
  q.created_at, q.updated_at, q.revision,
  (select count(*) from holdfast.jobs as j where j.queue_id = q.id and j.status = 'queued')::integer as queued,
  (
    select count(*) from holdfast.jobs as j
    where j.queue_id = q.id and j.status in ('claimed', 'running') and j.status = 'claimed'
  )::integer as claimed,
  (
    select count(*) from holdfast.jobs as j
    where j.queue_id = q.id and j.status in ('claimed', 'running') and j.status = 'running'
  )::integer as running,
  coalesce(s.scheduled, 0) as scheduled, coalesce(r.failed, 0) as failed, coalesce(r.dead_letter, 0) as dead_letter,
  extract(epoch from clock_timestamp() - head.run_at)::double precision * 1000 as oldest_wait_ms,
  head.type as head_type, coalesce(head.payload_version, 1)::integer as head_version
from holdfast.queues as q
left join lateral (
  select j.run_at, j.type, j.payload_version
  from holdfast.jobs as j
  where j.queue_id = q.id and j.status = 'queued'
  order by j.priority, j.seq
  limit 1
) as head on true
left join (
  select j.queue_id, count(*)::integer as scheduled
  from holdfast.jobs as j
  where j.project_id = $1 and j.status = 'scheduled'
  group by j.queue_id
) as s on s.queue_id = q.id
left join (
  select
    j.queue_id,
    (count(*) filter (where j.status = 'failed'))::integer as failed,
    (count(*) filter (where j.status = 'dead_letter'))::integer as dead_letter
  from holdfast.jobs as j
  where j.project_id = $1 and j.status in ('failed', 'dead_letter')
  group by j.queue_id
) as r on r.queue_id = q.id
where q.project_id = $1 and q.deleted_at is null
  and ($2::text is null or q.name > $2::text)
  and ($4::text is null or q.name = $4::text)
order by q.name
limit $3`,
  },
  /** stats.sql */
  findQueue: {
    name: 'find_queue',
    text: `select q.id, q.revision
from holdfast.queues as q
where q.project_id = $1 and q.name = $2 and q.deleted_at is null`,
  },
  /** stats.sql */
  lookUpQueue: {
    name: 'look_up_queue',
    text: `select q.id from holdfast.queues as q where q.project_id = $1 and q.name = $2`,
  },
  /** stats.sql */
  countLeasedJobs: {
    name: 'count_leased_jobs',
    text: `select count(*)::integer as job_count
from holdfast.jobs as j
where j.queue_id = $1 and j.status in ('claimed', 'running')`,
  },
  /** stats.sql */
  readQueueRates: {
    name: 'read_queue_rates',
    text: `select
  s.queue_id, sum(s.completed_count)::integer as completed, sum(s.failed_count)::integer as failed,
  sum(s.dead_letter_count)::integer as dead_lettered, holdfast.sum_counts(s.wait_buckets) as wait_buckets,
  holdfast.sum_counts(s.run_buckets) as run_buckets
from holdfast.stats_minutely as s
where s.project_id = $1 and s.minute > clock_timestamp() - $2::double precision * interval '1 millisecond'
group by s.queue_id`,
  },
  /** stats.sql */
  readTimeseries: {
    name: 'read_timeseries',
    text: `select
  date_bin($4::double precision * interval '1 millisecond', s.minute, $2::timestamptz) as at,
  sum(s.completed_count)::integer as completed, sum(s.failed_count)::integer as failed,
  sum(s.dead_letter_count)::integer as dead_lettered, sum(s.cancelled_count)::integer as cancelled,
  holdfast.sum_counts(s.wait_buckets) as wait_buckets, holdfast.sum_counts(s.run_buckets) as run_buckets
from holdfast.stats_minutely as s
where s.project_id = $1 and s.minute >= $2::timestamptz and s.minute < $3::timestamptz
  and ($5::bigint is null or s.queue_id = $5::bigint)
group by 1
order by 1`,
  },
  /** stats.sql */
  listWorkers: {
    name: 'list_workers',
    text: `select
  w.id, w.host, w.pid, w.build, w.labels, w.queues, w.types, w.slots, w.status, w.requested_status, w.rss_bytes,
  w.loop_lag_ms, w.started_at, w.heartbeat_at,
  w.heartbeat_at < clock_timestamp() - w.lease_ms * interval '1 millisecond' as lost,
  array(
    select j.id
    from holdfast.jobs as j
    where j.project_id = $1 and j.worker_id = w.id and j.status in ('claimed', 'running')
    order by j.claimed_at, j.id
    limit 1000
  ) as running
from holdfast.workers as w
where w.project_id = $1 and w.status <> 'stopped' and ($2::uuid is null or w.id = $2::uuid)
  and w.heartbeat_at > clock_timestamp() - interval '1 hour'
order by w.started_at, w.id`,
  },
  /** stats.sql */
  countMissedFires: {
    name: 'count_missed_fires',
    text: `select s.name, count(*)::integer as fire_count
from holdfast.schedule_fires as f
join holdfast.schedules as s on s.project_id = f.project_id and s.id = f.schedule_id
where f.project_id = $1 and f.outcome = 'missed' and f.recorded_at > clock_timestamp() - interval '1 day'
group by s.name
order by s.name`,
  },
  /** stats.sql */
  readClock: {
    name: 'read_clock',
    text: `select clock_timestamp() as now`,
  },
  /** stats.sql */
  readSchemaVersion: {
    name: 'read_schema_version',
    text: `select coalesce(max(version), 0)::integer as version from holdfast.schema_migrations`,
  },
  /** steps.sql */
  checkLease: {
    name: 'check_lease',
    text: `select current_setting('transaction_isolation') as isolation
from holdfast.jobs as j
where j.project_id = $1::uuid and j.id = $2::uuid and j.lease_token = $3::uuid`,
  },
  /** steps.sql */
  lockLease: {
    name: 'lock_lease',
    text: `select j.id
from holdfast.jobs as j
where j.project_id = $1::uuid and j.id = $2::uuid and j.lease_token = $3::uuid
for share of j`,
  },
  /** steps.sql */
  listSteps: {
    name: 'list_steps',
    text: `select s.name, s.position, s.result::text as result
from holdfast.jobs as j
left join holdfast.job_steps as s
  on s.project_id = j.project_id and s.job_id = j.id and s.generation = j.generation
where j.project_id = $1::uuid and j.id = $2::uuid and j.lease_token = $3::uuid
order by s.position`,
  },
  /** steps.sql */
  recordStep: {
    name: 'record_step',
    text: `with held as materialized (
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
returning name`,
  },
  /** steps.sql */
  forgetSteps: {
    name: 'forget_steps',
    text: `delete from holdfast.job_steps as s
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
returning s.job_id`,
  },
  /** time-travel.sql */
  passTime: {
    name: 'pass_time',
    text: `with passed as (
  select $1::double precision * interval '1 millisecond' as t
),
moved_jobs as (
  update holdfast.jobs as j
  set
    run_at = j.run_at - p.t,
    created_at = j.created_at - p.t,
    claimed_at = j.claimed_at - p.t,
    started_at = j.started_at - p.t,
    finished_at = j.finished_at - p.t,
    lock_expires_at = j.lock_expires_at - p.t,
    cancel_requested_at = j.cancel_requested_at - p.t,
    start_deadline_at = j.start_deadline_at - p.t,
    retry = case
      when j.retry ->> 'retryUntil' is null then j.retry
      else jsonb_set(j.retry, '{retryUntil}', to_jsonb(to_char(
        ((j.retry ->> 'retryUntil')::timestamptz - p.t) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'
      )))
    end
  from passed as p
),
moved_locks as (
  update holdfast.unique_locks as l
  set expires_at = l.expires_at - p.t, acquired_at = l.acquired_at - p.t
  from passed as p
),
moved_pauses as (
  update holdfast.queues as q
  set paused_at = q.paused_at - p.t, paused_until = q.paused_until - p.t
  from passed as p
  where q.paused_at is not null
),
moved_workers as (
  update holdfast.workers as w
  set started_at = w.started_at - p.t, heartbeat_at = w.heartbeat_at - p.t
  from passed as p
)
update holdfast.idempotency_keys as k
set created_at = k.created_at - p.t
from passed as p`,
  },
  /** time-travel.sql */
  readWorkLeft: {
    name: 'read_work_left',
    text: `select
  (
    select count(*)::integer
    from holdfast.jobs as j
    join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
    where j.project_id = $1
      and case
        when j.payload_version is null then j.type = any ($2::text[])
        else j.type || '@' || j.payload_version = any ($2::text[])
      end
      and (
        j.worker_id = $3::uuid and j.status in ('claimed', 'running')
        or j.status = 'queued' and q.paused_at is null
        and coalesce(j.start_deadline_at > clock_timestamp() or j.attempt > 0 or j.release_count > 0, true)
      )
  ) as job_count,
  exists (select from holdfast.job_endings) as has_endings,
  exists (select from holdfast.events where position is null) as has_events`,
  },
  /** time-travel.sql */
  listStoredJobs: {
    name: 'list_stored_jobs',
    text: `select
  j.id, j.type, q.name as queue, j.status, j.payload, j.priority, j.tags, j.metadata, j.created_at, j.batch_id,
  nullif(j.run_at, 'infinity') as run_at,
  extract(epoch from nullif(j.run_at, 'infinity') - j.created_at)::double precision * 1000 as delay_ms,
  j.unique_lock ->> 'key' as unique_key, coalesce(j.payload_version, 1)::integer as payload_version
from holdfast.all_jobs as j
join holdfast.queues as q on q.project_id = j.project_id and q.id = j.queue_id
where j.project_id = $1 and ($2::uuid[] is null or j.id = any ($2::uuid[]))
order by j.created_at, j.id`,
  },
  /** unique-keys.sql */
  acquireUniqueKeys: {
    name: 'acquire_unique_keys',
    text: `select a.request_no, a.verdict, a.job_id, a.job_status, a.holder_id
from holdfast.acquire_unique_keys($1::uuid, $2::jsonb) as a`,
  },
  /** unique-keys.sql */
  reacquireUniqueKeys: {
    name: 'reacquire_unique_keys',
    text: `select a.job_id, a.holder_id
from holdfast.reacquire_unique_keys($1::uuid, $2::uuid[]) as a`,
  },
  /** unique-keys.sql */
  forgetUniqueKeys: {
    name: 'forget_unique_keys',
    text: `select n from generate_series(1, holdfast.forget_unique_keys($1::double precision, $2::integer)) as n`,
  },
  /** workers.sql */
  registerWorker: {
    name: 'register_worker',
    text: `with registered as (
  insert into holdfast.workers (
    project_id, id, host, pid, build, labels, queues, types, slots, lease_ms
  )
  values ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10)
  returning id, host, pid
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'WorkerStarted', jsonb_build_object('workerId', r.id, 'host', r.host, 'pid', r.pid)
  from registered as r
  where exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'WorkerStarted')
)
select id from registered`,
  },
  /** workers.sql */
  beatWorker: {
    name: 'beat_worker',
    text: `with announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'WorkerStopping', jsonb_build_object('workerId', w.id, 'host', w.host, 'pid', w.pid)
  from holdfast.workers as w
  where $3::text = 'stopping' and w.project_id = $1 and w.id = $2 and w.status <> 'stopping'
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'WorkerStopping')
)
update holdfast.workers as w
set
  heartbeat_at = clock_timestamp(), status = $3, busy_slots = $4, stuck_slots = $5, rss_bytes = $6, loop_lag_ms = $7,
  requested_status = case when w.requested_status = $3 then null else w.requested_status end, lost_at = null
where w.project_id = $1 and w.id = $2
returning w.requested_status`,
  },
  /** workers.sql */
  requestWorkerStatus: {
    name: 'request_worker_status',
    text: `update holdfast.workers as w
set requested_status = $3
where w.project_id = $1 and w.id = $2 and w.status in ('active', 'quiet')
returning w.id`,
  },
  /** workers.sql */
  markWorkerStopped: {
    name: 'mark_worker_stopped',
    text: `with announced as (
  insert into holdfast.events (project_id, event, data)
  select $1, 'WorkerStopping', jsonb_build_object('workerId', w.id, 'host', w.host, 'pid', w.pid)
  from holdfast.workers as w
  where w.project_id = $1 and w.id = $2 and w.status not in ('stopping', 'stopped')
    and exists (select from holdfast.event_subscriptions where project_id = $1 and event = 'WorkerStopping')
)
update holdfast.workers as w
set status = 'stopped', busy_slots = 0, requested_status = null, heartbeat_at = clock_timestamp()
where w.project_id = $1 and w.id = $2`,
  },
  /** workers.sql */
  markLostWorkers: {
    name: 'mark_lost_workers',
    text: `with lost as (
  update holdfast.workers as w
  set lost_at = clock_timestamp()
  where w.lost_at is null and w.status <> 'stopped'
    and w.heartbeat_at < clock_timestamp() - w.lease_ms * interval '1 millisecond'
    and pg_postmaster_start_time() < clock_timestamp() - w.lease_ms * interval '1 millisecond'
  returning w.project_id, w.id, w.host, w.pid
),
announced as (
  insert into holdfast.events (project_id, event, data)
  select l.project_id, 'WorkerLost', jsonb_build_object('workerId', l.id, 'host', l.host, 'pid', l.pid)
  from lost as l
  where exists (select from holdfast.event_subscriptions where project_id = l.project_id and event = 'WorkerLost')
)
select id from lost`,
  },
  /** workers.sql */
  countLostWorkers: {
    name: 'count_lost_workers',
    text: `select
  count(*) filter (
    where w.heartbeat_at < clock_timestamp() - w.lease_ms * interval '1 millisecond'
  )::integer as lost_count,
  count(*)::integer as worker_count
from holdfast.workers as w
where w.status <> 'stopped'
  and w.heartbeat_at > clock_timestamp() - 2 * w.lease_ms * interval '1 millisecond' - interval '10 seconds'`,
  },
  /** workers.sql */
  forgetWorkers: {
    name: 'forget_workers',
    text: `delete from holdfast.workers as w
where w.heartbeat_at < clock_timestamp() - $1::double precision * interval '1 millisecond'`,
  },
} as const satisfies Record<string, Statement>;
