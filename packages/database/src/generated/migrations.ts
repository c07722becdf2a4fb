// Made from packages/database/migrations by `npm run generate`. Do not edit.

/** One numbered step of the schema. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** False when the file says `-- no-transaction`, as CREATE INDEX CONCURRENTLY needs. */
  readonly transactional: boolean;
  /** SHA-256 of the SQL file, in hex. */
  readonly checksum: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'foundation',
    transactional: true,
    checksum: 'bc6ac58f58ba3522517ca57dd57e1bc511013ac07a57b211f48e59c92c6ce5cb',
    sql: `-- The whole data model. Times come from the database clock; key columns sort bytewise; hot tables have no foreign keys.

create type holdfast.job_status as enum (
  'queued', 'scheduled', 'claimed', 'running', 'completed', 'failed', 'dead_letter', 'cancelled'
);

create type holdfast.execution_status as enum (
  'running', 'completed', 'failed', 'timed_out', 'cancelled', 'returned', 'released'
);

-- Orders the line inside (queue, priority); drawn whenever a job becomes due.
create sequence holdfast.job_seq as bigint;

create table holdfast.settings (
  key text collate "C" primary key,
  value jsonb not null,
  updated_at timestamptz not null default clock_timestamp()
);

create table holdfast.projects (
  id uuid primary key,
  slug text collate "C" not null unique check (slug ~ '^[A-Za-z0-9._:-]{1,128}$'),
  name text not null check (char_length(name) between 1 and 200),
  created_at timestamptz not null default clock_timestamp()
);

insert into holdfast.projects (id, slug, name)
values (gen_random_uuid(), 'default', 'Default');

create table holdfast.queues (
  project_id uuid not null references holdfast.projects (id),
  id bigint generated always as identity unique,
  name text collate "C" not null check (name ~ '^[A-Za-z0-9._:-]{1,128}$'),
  concurrency integer check (concurrency between 1 and 1000000),
  -- { "maxAttempts"?, "timeoutMs"?, "retry"? } for jobs that name none.
  job_defaults jsonb not null default '{}' check (jsonb_typeof(job_defaults) = 'object'),
  paused_at timestamptz,
  paused_by text,
  paused_reason text,
  paused_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  deleted_at timestamptz,
  revision bigint not null default 1,
  primary key (project_id, id),
  unique (project_id, name),
  check (paused_at is not null or (paused_by is null and paused_reason is null and paused_until is null))
);

create table holdfast.jobs (
  seq bigint,
  queue_id bigint not null,
  run_at timestamptz not null,
  created_at timestamptz not null,
  claimed_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  lock_expires_at timestamptz,
  cancel_requested_at timestamptz,
  -- The due instant of the schedule that made this job.
  fire_at timestamptz,
  project_id uuid not null,
  id uuid not null,
  lease_token uuid,
  worker_id uuid,
  schedule_id uuid,
  attempt integer not null default 0,
  max_attempts integer not null default 5,
  execution_seq integer not null default 0,
  crash_count integer not null default 0,
  release_count integer not null default 0,
  generation integer not null default 0,
  pending_parents integer not null default 0,
  timeout_ms integer not null default 300000,
  status holdfast.job_status not null,
  priority smallint not null default 5,
  type text collate "C" not null,
  -- Why it ended or waits, as a code: attempts_exhausted, non_retryable, poison_pill, cancelled, …
  reason text,
  payload jsonb not null,
  result jsonb,
  last_error jsonb,
  -- { "mode", "backoff" }; null means the default policy.
  retry jsonb,
  progress jsonb,
  metadata jsonb,
  tags text[],
  constraint jobs_pkey primary key (project_id, id),
  constraint jobs_lease_exactly_when_held check (
    (status in ('claimed', 'running')) = (lease_token is not null)
    and (lease_token is null) = (lock_expires_at is null)
  ),
  constraint jobs_holder_known_when_held check (
    status not in ('claimed', 'running') or (worker_id is not null and claimed_at is not null)
  ),
  constraint jobs_holder_absent_while_waiting check (
    status not in ('queued', 'scheduled') or (worker_id is null and claimed_at is null)
  ),
  constraint jobs_started_exactly_when_running check (
    case status
      when 'running' then started_at is not null
      when 'completed' then started_at is not null
      when 'queued' then started_at is null
      when 'scheduled' then started_at is null
      when 'claimed' then started_at is null
      else true
    end
  ),
  constraint jobs_finished_exactly_when_ended check (
    (status in ('completed', 'failed', 'dead_letter', 'cancelled')) = (finished_at is not null)
  ),
  constraint jobs_in_line_when_queued check (status <> 'queued' or seq is not null),
  constraint jobs_run_at_finite check (
    isfinite(run_at) = (pending_parents = 0) and (pending_parents = 0 or status in ('scheduled', 'cancelled'))
  ),
  constraint jobs_run_at_near check (not isfinite(run_at) or run_at < created_at + interval '11 years'),
  constraint jobs_times_finite check (isfinite(created_at) and isfinite(lock_expires_at)),
  constraint jobs_times_in_order check (
    started_at >= claimed_at and finished_at >= coalesce(started_at, claimed_at, '-infinity')
  ),
  constraint jobs_cancel_request_while_held check (
    cancel_requested_at is null or status in ('claimed', 'running', 'completed', 'cancelled')
  ),
  constraint jobs_priority_range check (priority between 0 and 9),
  constraint jobs_attempt_range check (attempt >= 0 and max_attempts between 1 and 1000),
  constraint jobs_counts_not_negative check (
    execution_seq >= 0 and crash_count >= 0 and release_count >= 0 and generation >= 0 and pending_parents >= 0
  ),
  constraint jobs_timeout_range check (timeout_ms between 1 and 86400000),
  constraint jobs_type_length check (char_length(type) between 1 and 128)
) with (
  fillfactor = 80,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 50000,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.02,
  autovacuum_analyze_threshold = 5000
);

-- The lease and heartbeat columns stand in no index, so that heartbeats stay heap-only updates.
create index jobs_claim on holdfast.jobs (queue_id, priority, seq) where status = 'queued';
create index jobs_suspects on holdfast.jobs (queue_id, priority, seq) where status = 'queued' and crash_count > 0;
create index jobs_due on holdfast.jobs (run_at) where status = 'scheduled';
create index jobs_leased on holdfast.jobs (queue_id) where status in ('claimed', 'running');
create index jobs_resting on holdfast.jobs (project_id, finished_at) where status in ('failed', 'dead_letter');
create index jobs_of_schedule on holdfast.jobs (schedule_id) where schedule_id is not null;

-- Jobs that ended for good, by day of ending.
create table holdfast.job_history (
  like holdfast.jobs including defaults including constraints
) partition by range (finished_at);
alter table holdfast.job_history add constraint job_history_ended check (
  status in ('completed', 'cancelled', 'dead_letter')
);
alter table holdfast.job_history add primary key (project_id, id, finished_at);
create table holdfast.job_history_default partition of holdfast.job_history default;

create view holdfast.all_jobs as
select * from holdfast.jobs
union all
select * from holdfast.job_history;

-- One row per claim that ended; appended only. An open execution is the job's own row.
create table holdfast.job_executions (
  recorded_at timestamptz not null,
  claimed_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  lease_lost_at timestamptz,
  project_id uuid not null,
  job_id uuid not null,
  worker_id uuid not null,
  execution_seq integer not null check (execution_seq > 0),
  attempt integer not null check (attempt > 0),
  generation integer not null,
  status holdfast.execution_status not null,
  next_delay_ms bigint check (next_delay_ms >= 0),
  reason text,
  error jsonb,
  primary key (project_id, job_id, execution_seq, recorded_at),
  constraint job_executions_interrupted_or_ended check (
    (status = 'running') = (lease_lost_at is not null) and (status = 'running') = (finished_at is null)
  ),
  constraint job_executions_times_in_order check (
    started_at >= claimed_at and finished_at >= coalesce(started_at, claimed_at)
  )
) partition by range (recorded_at);
create table holdfast.job_executions_default partition of holdfast.job_executions default;

create view holdfast.all_executions as
select
  project_id, job_id, execution_seq, attempt, generation, status, worker_id,
  claimed_at, started_at, finished_at, lease_lost_at, next_delay_ms, reason, error
from holdfast.job_executions
union all
select
  project_id, id, execution_seq, attempt, generation, 'running', worker_id,
  claimed_at, started_at, null, null, null, null, null
from holdfast.jobs
where status in ('claimed', 'running');

-- What a worker reported after it had lost its lease. Kept beside the execution; changes nothing.
create table holdfast.job_late_results (
  project_id uuid not null,
  job_id uuid not null,
  execution_seq integer not null,
  recorded_at timestamptz not null default clock_timestamp(),
  status holdfast.execution_status not null,
  result jsonb,
  error jsonb,
  primary key (project_id, job_id, execution_seq)
);

create table holdfast.job_logs (
  logged_at timestamptz not null,
  project_id uuid not null,
  job_id uuid not null,
  execution_seq integer not null,
  line integer not null,
  level text not null check (level in ('debug', 'info', 'warn', 'error')),
  message text not null,
  fields jsonb,
  primary key (project_id, job_id, execution_seq, line, logged_at)
) partition by range (logged_at);
create table holdfast.job_logs_default partition of holdfast.job_logs default;

create table holdfast.workers (
  project_id uuid not null,
  id uuid not null,
  host text not null,
  pid integer not null,
  build text not null,
  labels jsonb not null default '{}',
  queues text[] not null,
  types text[] not null,
  slots integer not null check (slots > 0),
  lease_ms integer not null check (lease_ms > 0),
  status text not null default 'active' check (status in ('active', 'quiet', 'stopping', 'stopped')),
  -- What a person asked of it; the worker obeys at its next heartbeat.
  requested_status text check (requested_status in ('active', 'quiet', 'stopping')),
  busy_slots integer not null default 0,
  stuck_slots integer not null default 0,
  rss_bytes bigint not null default 0,
  loop_lag_ms real not null default 0,
  started_at timestamptz not null default clock_timestamp(),
  heartbeat_at timestamptz not null default clock_timestamp(),
  primary key (project_id, id)
) with (fillfactor = 50);

create table holdfast.schedules (
  project_id uuid not null references holdfast.projects (id),
  id uuid not null,
  name text collate "C" not null check (name ~ '^[A-Za-z0-9._:-]{1,128}$'),
  cron text check (char_length(cron) between 1 and 128),
  every_ms bigint check (every_ms between 1000 and 315360000000),
  anchor_at timestamptz,
  timezone text not null,
  -- The template of the jobs it makes, in the stored form of a new job.
  job jsonb not null check (jsonb_typeof(job) = 'object'),
  catch_up text not null default 'latest' check (catch_up in ('none', 'latest', 'all')),
  catch_up_window_ms bigint not null default 3600000 check (catch_up_window_ms between 0 and 2592000000),
  overlap text not null default 'skip' check (overlap in ('skip', 'allow')),
  paused_at timestamptz,
  paused_by text,
  paused_reason text,
  next_fire_at timestamptz check (isfinite(next_fire_at)),
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  revision bigint not null default 1,
  primary key (project_id, id),
  unique (project_id, name),
  check ((cron is null) <> (every_ms is null)),
  check ((every_ms is null) = (anchor_at is null))
);
create index schedules_due on holdfast.schedules (next_fire_at);

-- One row per due instant, kept longer than the job that it made.
create table holdfast.schedule_fires (
  project_id uuid not null,
  schedule_id uuid not null,
  fire_at timestamptz not null,
  outcome text not null check (
    outcome in ('enqueued', 'caught_up', 'skipped_overlap', 'skipped_paused', 'missed', 'manual')
  ),
  job_id uuid,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (project_id, schedule_id, fire_at),
  check ((job_id is not null) = (outcome in ('enqueued', 'caught_up', 'manual')))
);
create index schedule_fires_age on holdfast.schedule_fires (recorded_at);

-- Each worker writes rows of its own (shard = worker id); a rollup merges them into the shard of zeros.
create table holdfast.stats_minutely (
  project_id uuid not null,
  queue_id bigint not null,
  minute timestamptz not null,
  shard uuid not null,
  completed_count bigint not null default 0,
  failed_count bigint not null default 0,
  dead_letter_count bigint not null default 0,
  cancelled_count bigint not null default 0,
  wait_ms_sum double precision not null default 0,
  run_ms_sum double precision not null default 0,
  -- Counts by bucket; bucket i holds durations up to 2^(i/2) milliseconds.
  wait_buckets bigint[] not null,
  run_buckets bigint[] not null,
  primary key (project_id, minute, queue_id, shard)
) with (fillfactor = 50);

-- Adds two arrays of counts element by element.
create function holdfast.add_counts(a bigint[], b bigint[]) returns bigint[]
language sql immutable parallel safe
return (
  select array_agg(coalesce(x, 0) + coalesce(y, 0) order by position)
  from unnest(a, b) with ordinality as pair (x, y, position)
);

create aggregate holdfast.sum_counts(bigint[]) (
  sfunc = holdfast.add_counts,
  stype = bigint[],
  initcond = '{}'
);

create table holdfast.users (
  id uuid primary key,
  email text collate "C" not null unique check (email = lower(email) and char_length(email) between 3 and 254),
  password_hash text not null,
  password_change_required_at timestamptz,
  disabled_at timestamptz,
  created_at timestamptz not null default clock_timestamp()
);

create table holdfast.memberships (
  project_id uuid not null references holdfast.projects (id) on delete cascade,
  user_id uuid not null references holdfast.users (id) on delete cascade,
  role text not null check (role in ('viewer', 'operator', 'admin', 'owner')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, user_id)
);

-- One sign-in; the family of its refresh tokens.
create table holdfast.sessions (
  id uuid primary key,
  user_id uuid not null references holdfast.users (id) on delete cascade,
  -- How the person signed in: by password or by one-time link.
  method text not null check (method in ('password', 'ticket')),
  user_agent text,
  ip text,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  revoked_reason text
);
create index sessions_of_user on holdfast.sessions (user_id);

create table holdfast.refresh_tokens (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  session_id uuid not null references holdfast.sessions (id) on delete cascade,
  issued_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index refresh_tokens_of_session on holdfast.refresh_tokens (session_id);

create table holdfast.sign_in_tickets (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id uuid not null references holdfast.users (id) on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz
);

create table holdfast.api_keys (
  project_id uuid not null references holdfast.projects (id) on delete cascade,
  id text collate "C" not null unique check (char_length(id) = 8),
  name text not null check (char_length(name) between 1 and 200),
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  scopes text[] not null check (scopes <@ array['enqueue', 'read', 'manage'] and cardinality(scopes) > 0),
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  primary key (project_id, id)
);

create table holdfast.idempotency_keys (
  project_id uuid not null,
  key_hash bytea not null check (octet_length(key_hash) = 32),
  request_hash bytea not null check (octet_length(request_hash) = 32),
  response_status integer,
  response_body jsonb,
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, key_hash)
);
create index idempotency_keys_age on holdfast.idempotency_keys (created_at);
`,
  },
  {
    version: 2,
    name: 'relations',
    transactional: true,
    checksum: 'e2942ff55075cfd2bc6638132970b626ad60967ef0e5228aa92e6185fcbcbc21',
    sql: `-- What jobs have to do with each other: unique keys, batches, dependencies, events, and the steps of a handler.

alter table holdfast.jobs
  -- Not claimed for the first time by then: cancelled.
  add column start_deadline_at timestamptz,
  -- The batch, chain or graph that the job is a member or a callback of.
  add column batch_id uuid,
  -- The event that a subscription made the job for.
  add column event_id uuid,
  -- { "digest", "scope", "key", "until", "ttlMs"? }: the key that it holds or held, see unique_locks.
  add column unique_lock jsonb,
  -- Attempts of this generation whose handler threw; timeouts are not counted.
  add column exception_count integer not null default 0,
  -- Other jobs wait for its end, see job_dependencies.
  add column has_children boolean not null default false,
  add constraint jobs_start_deadline_finite check (isfinite(start_deadline_at)),
  add constraint jobs_exception_count_not_negative check (exception_count >= 0);

-- The same columns in the same order, so that whole rows can move.
alter table holdfast.job_history
  add column start_deadline_at timestamptz,
  add column batch_id uuid,
  add column event_id uuid,
  add column unique_lock jsonb,
  add column exception_count integer not null default 0,
  add column has_children boolean not null default false,
  add constraint jobs_start_deadline_finite check (isfinite(start_deadline_at)),
  add constraint jobs_exception_count_not_negative check (exception_count >= 0);
create index job_history_of_batch on holdfast.job_history (batch_id, id) where batch_id is not null;

-- When a new job's first claim comes too late: an instant, or milliseconds from now; none without either.
create function holdfast.start_deadline(extras jsonb) returns timestamptz
language sql volatile
return case
  when extras is null then null
  else coalesce(
    (extras ->> 'startDeadlineAt')::timestamptz,
    clock_timestamp() + (extras ->> 'startDeadlineMs')::double precision * interval '1 millisecond'
  )
end;

create or replace view holdfast.all_jobs as
select * from holdfast.jobs
union all
select * from holdfast.job_history;

-- Jobs that ended while something waits for their end. The settler takes a row away in the transaction that carries
-- out what follows from it, so that it follows exactly once.
create table holdfast.job_endings (
  id bigint generated always as identity primary key,
  project_id uuid not null,
  job_id uuid not null,
  status holdfast.job_status not null check (status in ('completed', 'dead_letter', 'cancelled')),
  batch_id uuid,
  has_children boolean not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
create index job_endings_of_job on holdfast.job_endings (project_id, job_id);

-- A chain is a batch whose jobs run one after the other; a graph, one whose jobs wait for any of its others.
create table holdfast.batches (
  project_id uuid not null references holdfast.projects (id),
  id uuid not null,
  kind text not null check (kind in ('batch', 'chain', 'graph')),
  name text check (char_length(name) between 1 and 200),
  -- The batch that this one is a member of.
  parent_id uuid,
  allow_failures boolean not null default false,
  total_count integer not null default 0,
  completed_count integer not null default 0,
  dead_letter_count integer not null default 0,
  cancelled_count integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  -- Every member has ended; empty again when a dead member is replayed or a member is added.
  finished_at timestamptz,
  cancelled_at timestamptz,
  -- What the outer batch was told.
  reported_status holdfast.job_status,
  primary key (project_id, id),
  constraint batches_counts_in_range check (
    total_count >= 0 and completed_count >= 0 and dead_letter_count >= 0 and cancelled_count >= 0
  )
) with (fillfactor = 50);
create index batches_newest on holdfast.batches (project_id, created_at desc, id desc);
create index batches_of_parent on holdfast.batches (project_id, parent_id) where parent_id is not null;

-- Jobs that a batch makes once each, when their moment comes.
create table holdfast.batch_callbacks (
  project_id uuid not null,
  batch_id uuid not null,
  role text not null check (role in ('progress', 'catch', 'then', 'finally')),
  -- Of a progress callback: the share of ended members that calls for it.
  percent smallint not null default 0 check (percent between 0 and 100),
  -- The id that its job gets.
  job_id uuid not null,
  -- The template of the job, in the stored form of a new job.
  job jsonb not null check (jsonb_typeof(job) = 'object'),
  enqueued_at timestamptz,
  ended_at timestamptz,
  primary key (project_id, batch_id, role, percent),
  unique (project_id, job_id),
  check ((role = 'progress') = (percent > 0)),
  check (ended_at is null or enqueued_at is not null)
);

create table holdfast.job_dependencies (
  project_id uuid not null,
  parent_id uuid not null,
  child_id uuid not null,
  -- What becomes of the child when the parent ends otherwise than completed.
  on_failure text not null check (on_failure in ('cancel', 'run', 'wait')),
  -- waiting: the parent has not ended; satisfied: it completed; broken: it ended otherwise.
  state text not null default 'waiting' check (state in ('waiting', 'satisfied', 'broken')),
  -- How long the child waits after its last parent.
  child_delay_ms double precision not null default 0 check (child_delay_ms >= 0),
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, parent_id, child_id),
  check (parent_id <> child_id)
);
create index job_dependencies_of_child on holdfast.job_dependencies (project_id, child_id);
create index job_dependencies_age on holdfast.job_dependencies (created_at);

-- Who holds a unique key. The row alone holds nothing: its job must be of a status that holds. So an end, a death or a
-- crash releases the key with no further write, and nothing can leak.
create table holdfast.unique_locks (
  project_id uuid not null,
  -- SHA-256 of scope, what the scope names, and key.
  digest bytea not null check (octet_length(digest) = 32),
  scope text not null check (scope in ('type', 'queue', 'project')),
  key text collate "C" not null check (octet_length(key) between 1 and 512),
  job_id uuid not null,
  until text not null check (until in ('start', 'done', 'ttl')),
  -- The holder's execution_seq when it took the key; \`start\` holds until that rises.
  execution_seq integer not null default 0,
  expires_at timestamptz,
  -- The one job that may wait behind a holder that has started (queue_latest).
  next_job_id uuid,
  acquired_at timestamptz not null default clock_timestamp(),
  primary key (project_id, digest),
  check ((until = 'ttl') = (expires_at is not null))
) with (fillfactor = 70);
create index unique_locks_age on holdfast.unique_locks (acquired_at);

-- The outbox. Only types that somebody subscribed to are written, in the transaction of what happened.
-- The dispatcher numbers them afterwards, one dispatcher at a time: numbers become visible in their own order, so that a
-- reader who remembers the last one misses nothing that was written early and committed late.
create sequence holdfast.event_position as bigint;
create table holdfast.events (
  project_id uuid not null,
  seq bigint generated always as identity,
  -- None: not dispatched yet.
  position bigint,
  id uuid not null default gen_random_uuid(),
  event text collate "C" not null check (char_length(event) between 1 and 128),
  job_id uuid,
  data jsonb not null default '{}',
  occurred_at timestamptz not null default clock_timestamp(),
  primary key (project_id, seq)
);
create unique index events_in_order on holdfast.events (project_id, position) where position is not null;
create index events_pending on holdfast.events (seq) where position is null;
create index events_age on holdfast.events (occurred_at);

create table holdfast.event_subscriptions (
  project_id uuid not null references holdfast.projects (id) on delete cascade,
  id uuid not null,
  event text collate "C" not null check (char_length(event) between 1 and 128),
  -- The job type that is enqueued for each event; none: the event is only written to the outbox.
  job_type text collate "C" check (char_length(job_type) between 1 and 128),
  -- The template of that job, in the stored form of a new job; its payload is the event.
  job jsonb check (jsonb_typeof(job) = 'object'),
  created_at timestamptz not null default clock_timestamp(),
  primary key (project_id, id),
  unique nulls not distinct (project_id, event, job_type),
  check ((job is null) = (job_type is null))
);

-- Results of a handler's named steps; a retry resumes behind them.
create table holdfast.job_steps (
  project_id uuid not null,
  job_id uuid not null,
  generation integer not null,
  name text collate "C" not null check (char_length(name) between 1 and 200),
  position integer not null,
  result jsonb,
  recorded_at timestamptz not null default clock_timestamp(),
  primary key (project_id, job_id, generation, name)
);
create index job_steps_age on holdfast.job_steps (recorded_at);
`,
  },
  {
    version: 3,
    name: 'jobs_of_batch',
    transactional: false,
    checksum: '3bc5722bdf96e942d3be983f4bad03678ccd82ccaea2c6baf1663801f1bc9cc2',
    sql: `-- no-transaction
create index concurrently if not exists jobs_of_batch on holdfast.jobs (batch_id, id) where batch_id is not null;
`,
  },
  {
    version: 4,
    name: 'jobs_unstarted',
    transactional: false,
    checksum: '332939acf67910dffbf7daaa5be362fdd65052adebbcfdc8075c6393169062ce',
    sql: `-- no-transaction
create index concurrently if not exists jobs_unstarted on holdfast.jobs (start_deadline_at)
where start_deadline_at is not null and status in ('queued', 'scheduled');
`,
  },
  {
    version: 5,
    name: 'unique_keys',
    transactional: true,
    checksum: 'ba795fd0cf15d5ee4cdad1a0155c98fac7917ab3966a83b42e21524d171abeec',
    sql: `-- Taking unique keys. Whoever takes one locks its row in unique_locks first and looks at the holder in a statement of its
-- own: a holder that was committed while this one waited for the row is seen by the second statement only. Rows of
-- locks come before rows of jobs, and both in the order of their keys, so that no two callers wait for each other.

-- To find the jobs that held a key.
create index job_history_of_key on holdfast.job_history (project_id, (unique_lock ->> 'key'), id)
where unique_lock is not null;

-- The name of a key in unique_locks. What the scope names is preceded by its length, so that no two keys share a text.
create function holdfast.unique_digest(scope text, owner text, key text) returns bytea
language sql immutable parallel safe
return sha256(convert_to(
  scope || ':' || octet_length(convert_to(owner, 'UTF8')) || ':' || owner || key, 'UTF8'
));

-- Whether the job that a lock names holds the key, from the lock's columns and the job's; null for a job that is gone.
create function holdfast.holds_unique_key(
  until text, expires_at timestamptz, taken_at_seq integer, status holdfast.job_status, execution_seq integer
) returns boolean
language sql volatile
return case until
  when 'ttl' then expires_at > clock_timestamp()
  when 'start' then status in ('queued', 'scheduled') and execution_seq <= taken_at_seq
  else status in ('queued', 'scheduled', 'claimed', 'running', 'failed')
end;

-- What a caller asked for, what becomes of it, and the rows that matter, all of which the transaction has locked.
create type holdfast.unique_decision as (
  request jsonb,
  verdict text,
  -- The job that stands for the request, or its own.
  job_id uuid,
  job_status holdfast.job_status,
  job_row tid,
  holder_id uuid,
  holder_row tid,
  lock_row tid,
  is_fresh boolean,
  -- The follower of a holder that has ended is the holder now.
  is_promoted boolean
);

-- Locks the rows of the keys, in their order; answers the digests of those that nobody had.
create function holdfast.lock_unique_keys(project uuid, requests jsonb) returns bytea[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  fresh bytea[];
begin
  with taken as (
    insert into holdfast.unique_locks as l (project_id, digest, scope, key, job_id, until, expires_at)
    select
      project, decode(r.digest, 'hex'), r.scope, r.key, r."jobId", r.until,
      clock_timestamp() + r."ttlMs" * interval '1 millisecond'
    from jsonb_to_recordset(requests) as r (
      digest text, scope text, key text, "jobId" uuid, until text, "ttlMs" double precision
    )
    order by 2
    -- Locks the row that exists, and writes nothing.
    on conflict (project_id, digest) do update set job_id = l.job_id where false
    returning l.digest
  )
  select coalesce(array_agg(digest), '{}') into fresh from taken;
  return fresh;
end
$$;

-- Locks the jobs that may be given other content (not started) or a follower (of any live status), in their order.
create function holdfast.lock_key_holders(project uuid, requests jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  replaceable uuid[];
  followable uuid[];
begin
  select array_agg(named.id), array_agg(named.id) filter (where r.mode = 'queue_latest')
  into replaceable, followable
  from jsonb_to_recordset(requests) as c (digest text, "onConflict" text)
  cross join lateral (select c."onConflict" as mode) as r
  cross join lateral (
    select l.job_id, l.next_job_id
    from holdfast.unique_locks as l
    where l.project_id = project and l.digest = decode(c.digest, 'hex')
    limit 1
  ) as lock
  cross join lateral unnest(array[lock.job_id, lock.next_job_id]) as named (id)
  where r.mode not in ('keep', 'reject') and named.id is not null;

  perform
  from holdfast.jobs as j
  where j.project_id = project and j.id = any (replaceable)
    and (
      j.status in ('queued', 'scheduled')
      or (j.status in ('claimed', 'running', 'failed') and j.id = any (followable))
    )
  order by j.id
  for no key update;
end
$$;

-- Looks at the holders and decides. Every look-up is one of its own, by key: a join might be planned as a scan while the
-- tables are small, and stay one.
create function holdfast.decide_unique_keys(project uuid, requests jsonb, fresh bytea[])
returns holdfast.unique_decision[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  decisions holdfast.unique_decision[];
begin
  with fact as materialized (
    select
      r.request, r.request ->> 'onConflict' as mode, (r.request ->> 'jobId')::uuid as own_id, own.status as own_status,
      lock.row_id as lock_row, lock.until, lock.job_id as named_id, lock.next_job_id as next_id,
      lock.digest = any (fresh) as is_fresh,
      named.row_id as named_row, named.status as named_status, next.row_id as next_row, next.status as next_status,
      own.id is not null
        or lock.digest <> all (fresh) and (r.request ->> 'jobId')::uuid in (lock.job_id, lock.next_job_id)
        as exists_already,
      case
        when lock.digest = any (fresh) then null
        when holdfast.holds_unique_key(
          lock.until, lock.expires_at, lock.execution_seq, named.status, named.execution_seq
        ) then 'named'
        when next.status in ('queued', 'scheduled', 'claimed', 'running', 'failed') then 'next'
      end as held_by,
      coalesce(named.status in ('queued', 'scheduled') and named.execution_seq <= lock.execution_seq, false)
        as named_is_new,
      coalesce(next.status in ('queued', 'scheduled') and next.execution_seq = 0, false) as next_is_new,
      named.type = r.request ->> 'type' as named_is_alike,
      next.type = r.request ->> 'type' as next_is_alike
    from jsonb_array_elements(requests) as r (request)
    cross join lateral (
      select
        l.ctid as row_id, l.digest, l.until, l.expires_at, l.execution_seq, l.job_id, l.next_job_id
      from holdfast.unique_locks as l
      where l.project_id = project and l.digest = decode(r.request ->> 'digest', 'hex')
      limit 1
    ) as lock
    left join lateral (
      select j.ctid as row_id, j.status, j.type, j.execution_seq
      from holdfast.jobs as j where j.project_id = project and j.id = lock.job_id
      limit 1
    ) as named on true
    left join lateral (
      select j.ctid as row_id, j.status, j.type, j.execution_seq
      from holdfast.jobs as j where j.project_id = project and j.id = lock.next_job_id
      limit 1
    ) as next on true
    left join lateral (
      select j.id, j.status
      from holdfast.jobs as j where j.project_id = project and j.id = (r.request ->> 'jobId')::uuid
      limit 1
    ) as own on true
  ),
  holder as materialized (
    select
      fact.*,
      held_by = 'next' as is_promoted,
      case held_by when 'named' then named_id when 'next' then next_id end as id,
      case held_by when 'named' then named_status when 'next' then next_status end as status,
      case held_by when 'named' then named_row when 'next' then next_row end as row_id,
      case held_by when 'named' then named_is_new and named_is_alike when 'next' then next_is_new and next_is_alike end
        as takes_content,
      -- It has started, and holds until its end: another job may wait for that.
      mode = 'queue_latest' and (
        held_by = 'named' and until = 'done' and not named_is_new or held_by = 'next' and not next_is_new
      ) as takes_follower,
      held_by = 'named' and coalesce(next_status in ('queued', 'scheduled', 'claimed', 'running', 'failed'), false)
        as has_follower
    from fact
  ),
  decided as (
    select
      holder.*,
      case
        when exists_already then 'existing'
        when held_by is null then 'insert'
        when mode = 'reject' then 'rejected'
        when mode = 'keep' then 'kept'
        when takes_content and mode = 'debounce' and status = 'scheduled' then 'debounced'
        when takes_content then 'replaced'
        when not takes_follower then 'kept'
        when not has_follower then 'queued_behind'
        when next_is_new and next_is_alike then 'replaced'
        else 'kept'
      end as verdict,
      takes_follower and has_follower as is_for_follower
    from holder
  )
  select array_agg((
    d.request,
    d.verdict,
    case
      when d.verdict in ('insert', 'existing', 'queued_behind') then d.own_id
      when d.is_for_follower then d.next_id
      else d.id
    end,
    case
      when d.verdict = 'insert' then 'queued'
      when d.verdict = 'queued_behind' then 'scheduled'
      when d.verdict = 'existing' then d.own_status
      when d.is_for_follower then d.next_status
      else d.status
    end,
    case when d.is_for_follower then d.next_row else d.row_id end,
    d.id,
    d.row_id,
    d.lock_row,
    d.is_fresh,
    coalesce(d.is_promoted, false)
  )::holdfast.unique_decision)
  into decisions
  from decided as d;
  return decisions;
end
$$;

-- Writes what was decided. The rows are found by their place, which is safe for rows that are locked.
create function holdfast.apply_unique_decisions(project uuid, decisions holdfast.unique_decision[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  update holdfast.unique_locks as l
  set
    job_id = case when d.verdict = 'insert' then (d.request ->> 'jobId')::uuid else d.holder_id end,
    until = case when d.verdict = 'insert' then d.request ->> 'until' when d.is_promoted then 'done' else l.until end,
    execution_seq = case when d.verdict = 'insert' or d.is_promoted then 0 else l.execution_seq end,
    expires_at = case
      when d.verdict = 'insert' then
        clock_timestamp() + (d.request -> 'ttlMs')::double precision * interval '1 millisecond'
      when not d.is_promoted then l.expires_at
    end,
    next_job_id = case
      when d.verdict = 'queued_behind' then (d.request ->> 'jobId')::uuid
      when d.verdict <> 'insert' and not d.is_promoted then l.next_job_id
    end,
    acquired_at = clock_timestamp()
  from unnest(decisions) as d
  where l.ctid = d.lock_row and not d.is_fresh
    and (d.verdict in ('insert', 'queued_behind') or (d.is_promoted and d.verdict <> 'existing'));

  if exists (select from unnest(decisions) as d where d.verdict in ('replaced', 'debounced')) then
    update holdfast.jobs as j
    set
      payload = (d.request ->> 'payload')::jsonb,
      priority = (d.request -> 'priority')::smallint,
      tags = case
        when d.request ? 'tags' then array(select jsonb_array_elements_text(d.request -> 'tags'))
      end,
      metadata = (d.request ->> 'metadata')::jsonb,
      run_at = case
        when d.verdict = 'debounced' and j.pending_parents = 0 then
          least(
            clock_timestamp() + (d.request -> 'waitMs')::double precision * interval '1 millisecond',
            j.created_at + coalesce(
              (d.request -> 'maxWaitMs')::double precision * interval '1 millisecond', interval '10 years'
            )
          )
        else j.run_at
      end
    from unnest(decisions) as d
    where j.ctid = d.job_row and j.id = d.job_id and d.verdict in ('replaced', 'debounced')
      and j.status in ('queued', 'scheduled');
  end if;

  if exists (select from unnest(decisions) as d where d.verdict = 'queued_behind') then
    update holdfast.jobs as j
    set has_children = true
    from unnest(decisions) as d
    where j.ctid = d.holder_row and j.id = d.holder_id and d.verdict = 'queued_behind' and not j.has_children;

    insert into holdfast.job_dependencies (project_id, parent_id, child_id, on_failure, child_delay_ms)
    select
      project, d.holder_id, (d.request ->> 'jobId')::uuid, 'run',
      greatest(0, (d.request -> 'delayMs')::double precision, extract(
        epoch from (d.request ->> 'runAt')::timestamptz - clock_timestamp()
      )::double precision * 1000)
    from unnest(decisions) as d
    where d.verdict = 'queued_behind';
  end if;
end
$$;

-- The status of a job that has ended for good.
create function holdfast.ended_job_status(project uuid, job uuid) returns holdfast.job_status
language sql stable
return (select h.status from holdfast.job_history as h where h.project_id = project and h.id = job limit 1);

-- Decides for each request what becomes of its job. No two requests may name the same key. A request is
-- { no, jobId, type, queue, digest, scope, key, until, ttlMs?, onConflict }, with { payload, priority, tags, metadata,
-- delayMs?, runAt?, waitMs?, maxWaitMs? } where the job may take another's place; payload and metadata are JSON as text.
-- Verdicts:
--   insert         the key is taken: the caller inserts the job in the same transaction
--   existing       the job is there already, or has ended since: an earlier call was answered, but its answer was lost
--   queued_behind  the caller inserts the job with one more parent, the holder
--   kept           nothing changes; job_id holds the key
--   replaced       job_id holds the key, or is next, and has this request's content now
--   debounced      the same, and it waits anew
--   rejected       nothing was changed for any of the requests
create function holdfast.acquire_unique_keys(project uuid, requests jsonb)
returns table (request_no integer, verdict text, job_id uuid, job_status text, holder_id uuid)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  fresh bytea[] := holdfast.lock_unique_keys(project, requests);
  decisions holdfast.unique_decision[];
begin
  if requests @? '$[*].onConflict ? (@ == "replace" || @ == "debounce" || @ == "queue_latest")' then
    perform holdfast.lock_key_holders(project, requests);
  end if;
  decisions := holdfast.decide_unique_keys(project, requests, fresh);
  if not exists (select from unnest(decisions) as d where d.verdict = 'rejected') then
    perform holdfast.apply_unique_decisions(project, decisions);
    insert into holdfast.events (project_id, event, job_id, data)
    select
      project, 'JobDeduplicated', d.job_id,
      jsonb_build_object('type', d.request -> 'type', 'queue', d.request -> 'queue', 'reason', d.verdict)
    from unnest(decisions) as d
    where d.verdict in ('kept', 'replaced', 'debounced')
      and exists (
        select from holdfast.event_subscriptions as s where s.project_id = project and s.event = 'JobDeduplicated'
      );
  elsif cardinality(fresh) > 0 then
    delete from holdfast.unique_locks as l where l.project_id = project and l.digest = any (fresh);
  end if;
  return query
  select
    (d.request -> 'no')::integer, d.verdict, d.job_id,
    coalesce(d.job_status, holdfast.ended_job_status(project, d.job_id))::text, d.holder_id
  from unnest(decisions) as d;
end
$$;
`,
  },
  {
    version: 6,
    name: 'sql_enqueue',
    transactional: true,
    checksum: '1840eadbbf789a1e00a773030844270d8dca6bb9fb05e882034c1404398d526d',
    sql: `-- holdfast.enqueue: for triggers, and for languages without a library of ours. It takes the options of the SDK and keeps
-- its rules; a test enqueues the same jobs both ways and compares the rows.

-- A UUIDv7 (RFC 9562, section 5.7): a random one with the milliseconds in front and another version.
create function holdfast.uuid_v7() returns uuid
language sql volatile
return encode(
  set_bit(set_bit(
    overlay(
      uuid_send(gen_random_uuid())
      placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
      from 1 for 6
    ),
    52, 1
  ), 53, 1),
  'hex'
)::uuid;

-- Milliseconds of a duration: a number of them, "250ms", "30s", "5m", "1.5h", "7d", or ISO 8601 without years and months;
-- null for anything else, and for more than ten years.
create function holdfast.duration_ms(value jsonb) returns double precision
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  written constant text := value #>> '{}';
  part text[];
  ms numeric;
begin
  if jsonb_typeof(value) = 'number' then
    ms := written::numeric;
  elsif jsonb_typeof(value) = 'string' then
    part := regexp_match(written, '^(\\d{1,12}(?:\\.\\d{1,3})?)(ms|s|m|h|d)$');
    if part is not null then
      ms := part[1]::numeric * case part[2]
        when 'ms' then 1 when 's' then 1000 when 'm' then 60000 when 'h' then 3600000 else 86400000
      end;
    else
      part := regexp_match(
        written,
        '^P(?=\\d|T\\d)(?:(\\d{1,5})W)?(?:(\\d{1,6})D)?'
          || '(?:T(?=\\d)(?:(\\d{1,8})H)?(?:(\\d{1,9})M)?(?:(\\d{1,10}(?:\\.\\d{1,3})?)S)?)?$'
      );
      ms := case when part is not null then
        coalesce(part[1]::numeric, 0) * 604800000 + coalesce(part[2]::numeric, 0) * 86400000
        + coalesce(part[3]::numeric, 0) * 3600000 + coalesce(part[4]::numeric, 0) * 60000
        + coalesce(part[5]::numeric, 0) * 1000
      end;
    end if;
  end if;
  return case when ms between 0 and 315360000000 then round(ms)::double precision end;
end
$$;

-- Whether the text is an instant in RFC 3339, with an offset.
create function holdfast.is_instant(written text) returns boolean
language sql immutable
return coalesce(
  written ~ '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)$',
  false
);

create function holdfast.is_name(written text) returns boolean
language sql immutable
return coalesce(written ~ '^[A-Za-z0-9._:-]{1,128}$' and written not in ('.', '..'), false);

create function holdfast.is_whole(value jsonb, low numeric, high numeric) returns boolean
language sql immutable
return case
  when jsonb_typeof(value) = 'number' then
    (value #>> '{}')::numeric between low and high and (value #>> '{}')::numeric = trunc((value #>> '{}')::numeric)
  else false
end;

create function holdfast.are_tags(value jsonb) returns boolean
language sql immutable
return case
  when jsonb_typeof(value) = 'array' then
    jsonb_array_length(value) <= 20 and (
      select count(*) = count(distinct t.tag) and coalesce(bool_and(
        jsonb_typeof(t.tag) = 'string' and t.tag #>> '{}' !~ '[[:cntrl:]]' and char_length(t.tag #>> '{}') between 1 and 64
      ), true)
      from jsonb_array_elements(value) as t (tag)
    )
  else false
end;

-- An object without the members that are null, which count as absent. What is no object stays as it is.
create function holdfast.said_options(options jsonb) returns jsonb
language sql immutable
return case
  when jsonb_typeof(options) = 'object' then (
    select coalesce(jsonb_object_agg(o.name, o.value), '{}')
    from jsonb_each(options) as o (name, value)
    where o.value <> 'null'
  )
  else options
end;

-- The members that have none of the known names; all of it is one when it is no object.
create function holdfast.unknown_options(options jsonb, known text[], prefix text) returns text[]
language sql immutable
return case
  when jsonb_typeof(options) = 'object' then array(
    select format('there is no option "%s%s"', prefix, o.name)
    from jsonb_object_keys(options) as o (name)
    where o.name <> all (known)
  )
  else array[format('%s must be an object', case when prefix = '' then 'options' else rtrim(prefix, '.') end)]
end;

-- What is wrong with the settings of a unique key.
create function holdfast.unique_problems(settings jsonb) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  mode constant text := coalesce(settings ->> 'onConflict', 'keep');
  ends constant text := coalesce(settings ->> 'until', case when mode = 'debounce' then 'start' else 'done' end);
  wait_ms constant double precision := holdfast.duration_ms(settings -> 'wait');
  max_wait_ms constant double precision := holdfast.duration_ms(settings -> 'maxWait');
  problems constant text[] :=
    holdfast.unknown_options(settings, '{key,scope,until,ttl,onConflict,wait,maxWait}', 'unique.');
begin
  if jsonb_typeof(settings) <> 'object' then
    return problems;
  end if;
  return problems || array_remove(array[
    case when jsonb_typeof(settings -> 'key') is distinct from 'string'
      or octet_length(convert_to(settings ->> 'key', 'UTF8')) not between 1 and 512
      then 'unique.key must be 1 to 512 bytes of text; hash longer ones' end,
    case when coalesce(settings ->> 'scope', 'type') not in ('type', 'queue', 'project')
      then 'unique.scope must be one of "type", "queue", "project"' end,
    case when ends not in ('start', 'done', 'ttl')
      then 'unique.until must be one of "start", "done", "ttl"' end,
    case when mode not in ('keep', 'replace', 'debounce', 'queue_latest', 'reject')
      then 'unique.onConflict must be one of "keep", "replace", "debounce", "queue_latest", "reject"' end,
    case when ends = 'ttl' and coalesce(holdfast.duration_ms(settings -> 'ttl'), 0) < 1
      then 'unique.ttl must be a duration such as "30s" or "5m"' end,
    case when ends <> 'ttl' and settings ? 'ttl' then 'unique.ttl goes with until "ttl" only' end,
    case when mode = 'queue_latest' and ends <> 'done'
      then 'unique.until must be "done" for queue_latest: the next job waits for that' end,
    case when mode = 'debounce' and ends <> 'start'
      then 'unique.until must be "start" for debounce: a job waits until then' end,
    case when mode <> 'debounce' and (settings ? 'wait' or settings ? 'maxWait')
      then 'unique.wait and unique.maxWait go with onConflict "debounce" only' end,
    case when mode = 'debounce' and coalesce(wait_ms, 0) < 1
      then 'unique.wait must be a duration such as "30s" or "5m"' end,
    case when mode = 'debounce' and settings ? 'maxWait' and coalesce(max_wait_ms, 0) < greatest(1, wait_ms)
      then 'unique.maxWait must be a duration, and not less than wait' end
  ], null);
end
$$;

-- What is wrong with the options of a job.
create function holdfast.option_problems(options jsonb) returns text[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  is_debounced constant boolean := options #>> '{unique,onConflict}' = 'debounce';
  problems constant text[] := holdfast.unknown_options(
    options, '{id,delay,runAt,priority,tags,metadata,maxAttempts,timeout,startDeadline,unique}', ''
  );
begin
  if jsonb_typeof(options) <> 'object' then
    return problems;
  end if;
  return problems || array_remove(array[
    case when options ? 'id' and options ->> 'id' !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then 'id must be a UUID in lower case' end,
    case when options ? 'delay' and options ? 'runAt' then 'delay and runAt cannot both be set' end,
    case when is_debounced and (options ? 'delay' or options ? 'runAt')
      then 'delay and runAt cannot be set with debounce: unique.wait is the delay' end,
    case when options ? 'delay' and holdfast.duration_ms(options -> 'delay') is null
      then 'delay must be milliseconds or a duration such as "30s", "5m" or "PT5M"' end,
    case when options ? 'runAt' and not holdfast.is_instant(options ->> 'runAt')
      then 'runAt must be an RFC 3339 date and time with an offset'
      when (options ->> 'runAt')::timestamptz > clock_timestamp() + interval '3650 days'
      then 'runAt must be within the next ten years' end,
    case when options ? 'priority' and not holdfast.is_whole(options -> 'priority', 0, 9)
      then 'priority must be a whole number from 0 to 9' end,
    case when options ? 'tags' and not holdfast.are_tags(options -> 'tags')
      then 'tags must be at most 20 different words of 1 to 64 characters' end,
    case when options ? 'metadata' and jsonb_typeof(options -> 'metadata') <> 'object'
      then 'metadata must be an object'
      when octet_length((options -> 'metadata')::text) > 8192
      then 'metadata must be at most 8 kB of JSON' end,
    case when options ? 'maxAttempts' and not holdfast.is_whole(options -> 'maxAttempts', 1, 100)
      then 'maxAttempts must be a whole number from 1 to 100' end,
    case when options ? 'timeout' and coalesce(holdfast.duration_ms(options -> 'timeout') not between 1 and 86400000, true)
      then 'timeout must be a duration of at most a day' end,
    case when options ? 'startDeadline' and not holdfast.is_instant(options ->> 'startDeadline')
      and coalesce(holdfast.duration_ms(options -> 'startDeadline'), 0) < 1
      then 'startDeadline must be a duration, or an RFC 3339 date and time with an offset' end
  ], null) || case when options ? 'unique' then holdfast.unique_problems(options -> 'unique') else '{}' end;
end
$$;

-- The queue of that name, which the first job makes; a deleted one lives again.
create function holdfast.queue_of_name(project uuid, queue_name text, out id bigint, out job_defaults jsonb)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- The last look finds what another session made meanwhile.
  for look in 1..3 loop
    select q.id, q.job_defaults into id, job_defaults
    from holdfast.queues as q
    where q.project_id = project and q.name = queue_name and q.deleted_at is null;
    exit when id is not null;
    insert into holdfast.queues as q (project_id, name)
    values (project, queue_name)
    on conflict on constraint queues_project_id_name_key do update
    set deleted_at = null, updated_at = clock_timestamp(), revision = q.revision + 1
    where q.deleted_at is not null;
  end loop;
end
$$;

-- A unique key as its job carries it, from settings that were checked.
create function holdfast.unique_lock_of(settings jsonb, type text, queue text) returns jsonb
language sql immutable
return holdfast.said_options(jsonb_build_object(
  'digest', encode(holdfast.unique_digest(
    coalesce(settings ->> 'scope', 'type'),
    case coalesce(settings ->> 'scope', 'type') when 'type' then type when 'queue' then queue else '' end,
    settings ->> 'key'
  ), 'hex'),
  'scope', coalesce(settings ->> 'scope', 'type'),
  'key', settings -> 'key',
  'until', coalesce(settings ->> 'until', case when settings ->> 'onConflict' = 'debounce' then 'start' else 'done' end),
  'ttlMs', holdfast.duration_ms(settings -> 'ttl')
));

-- Inserts a checked job as enqueue_jobs, schedule_jobs and hold_back_jobs do, and announces it as they do.
-- made: { id, type, queue, payload, priority, maxAttempts, timeoutMs, retry?, tags?, metadata?, unique?, hasChildren,
-- delayMs? | runAt?, startDeadlineMs? | startDeadlineAt? }
create function holdfast.insert_job(project uuid, line_id bigint, made jsonb, parents integer) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  is_due constant boolean := parents = 0 and not made ?| '{delayMs,runAt}';
  due_at constant timestamptz := case
    when parents > 0 then 'infinity'
    else greatest(
      now_at, (made ->> 'runAt')::timestamptz,
      now_at + (made -> 'delayMs')::double precision * interval '1 millisecond'
    )
  end;
  is_new boolean;
begin
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    start_deadline_at, unique_lock, has_children, pending_parents, status, seq, run_at, created_at
  )
  values (
    project, (made ->> 'id')::uuid, line_id, made ->> 'type', made -> 'payload', (made -> 'priority')::smallint,
    (made -> 'maxAttempts')::integer, (made -> 'timeoutMs')::integer, made -> 'retry',
    case when made ? 'tags' then array(select jsonb_array_elements_text(made -> 'tags')) end, made -> 'metadata',
    holdfast.start_deadline(made), made -> 'unique', (made -> 'hasChildren')::boolean, parents,
    case when is_due then 'queued'::holdfast.job_status else 'scheduled' end,
    case when is_due then nextval('holdfast.job_seq') end, due_at, now_at
  )
  on conflict do nothing
  returning true into is_new;

  insert into holdfast.events (project_id, event, job_id, data)
  select
    project, s.event, (made ->> 'id')::uuid,
    jsonb_build_object('type', made -> 'type', 'queue', made -> 'queue', 'attempt', 0, 'executionSeq', 0) || case
      when is_due then '{}'
      when parents > 0 then '{"reason": "parents_pending"}'
      else jsonb_build_object('nextDelayMs', round(extract(epoch from due_at - now_at) * 1000))
    end
  from holdfast.event_subscriptions as s
  where is_new and s.project_id = project and s.event = case when is_due then 'JobQueued' else 'JobScheduled' end
  limit 1;
end
$$;

-- Enqueues a job in the caller's transaction; workers find it within half a second of the commit. Answers its id, or that
-- of the job which holds its unique key. What is wrong with the options is raised as invalid_parameter_value (22023), a
-- key that is held under onConflict "reject" as unique_violation (23505) with the holder's id as the detail.
create function holdfast.enqueue(
  project text, queue text, type text, payload jsonb default '{}', options jsonb default '{}'
) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  said jsonb := holdfast.said_options(coalesce(options, '{}'));
  content constant jsonb := coalesce(payload, '{}');
  settings constant jsonb := holdfast.said_options(said -> 'unique');
  mode constant text := coalesce(settings ->> 'onConflict', 'keep');
  problems text[];
  owner uuid;
  line record;
  made jsonb;
  taken record;
begin
  if settings is not null then
    said := said || jsonb_build_object('unique', settings);
  end if;
  problems := holdfast.option_problems(said) || array_remove(array[
    case when not holdfast.is_name(queue) then 'queue must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -' end,
    case when not holdfast.is_name(type) then 'type must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -' end,
    case when octet_length(content::text) > 1048576 then 'payload must be at most 1 MB of JSON' end
  ], null);
  if cardinality(problems) > 0 then
    raise exception using
      errcode = 'invalid_parameter_value', message = 'holdfast.enqueue: ' || array_to_string(problems, '; ');
  end if;
  select p.id into owner from holdfast.projects as p where p.slug = enqueue.project;
  if owner is null then
    raise exception using
      errcode = 'invalid_parameter_value', message = format('holdfast.enqueue: there is no project "%s"', project);
  end if;

  -- An id that is given may have been used before.
  if exists (select from holdfast.job_history as h where h.project_id = owner and h.id = (said ->> 'id')::uuid) then
    return (said ->> 'id')::uuid;
  end if;
  line := holdfast.queue_of_name(owner, queue);
  made := holdfast.said_options(jsonb_build_object(
    'id', coalesce((said ->> 'id')::uuid, holdfast.uuid_v7()),
    'type', type,
    'queue', queue,
    'priority', coalesce(said -> 'priority', '5'),
    'maxAttempts', coalesce(said -> 'maxAttempts', line.job_defaults -> 'maxAttempts', '5'),
    'timeoutMs', coalesce(
      to_jsonb(holdfast.duration_ms(said -> 'timeout')), line.job_defaults -> 'timeoutMs', '300000'
    ),
    'retry', line.job_defaults -> 'retry',
    'tags', nullif(said -> 'tags', '[]'),
    'metadata', nullif(said -> 'metadata', '{}'),
    'hasChildren', mode = 'queue_latest',
    'delayMs', nullif(holdfast.duration_ms(coalesce(settings -> 'wait', said -> 'delay')), 0),
    -- An instant that has passed means now: such a job goes straight into the line.
    'runAt', case when (said ->> 'runAt')::timestamptz > clock_timestamp() then said -> 'runAt' end,
    'startDeadlineAt', case when holdfast.is_instant(said ->> 'startDeadline') then said -> 'startDeadline' end,
    'startDeadlineMs', holdfast.duration_ms(said -> 'startDeadline')
  )) || jsonb_build_object('payload', content);
  if settings is null then
    perform holdfast.insert_job(owner, line.id, made, 0);
    return (made ->> 'id')::uuid;
  end if;

  made := made || jsonb_build_object('unique', holdfast.unique_lock_of(settings, type, queue));
  select * into taken
  from holdfast.acquire_unique_keys(owner, jsonb_build_array(
    (made - '{id,payload,metadata}'::text[]) || (made -> 'unique') || holdfast.said_options(jsonb_build_object(
      'no', 0,
      'jobId', made -> 'id',
      'onConflict', mode,
      'payload', content::text,
      'metadata', made ->> 'metadata',
      'waitMs', holdfast.duration_ms(settings -> 'wait'),
      'maxWaitMs', holdfast.duration_ms(settings -> 'maxWait')
    ))
  ));
  if taken.verdict = 'rejected' then
    raise exception using
      errcode = 'unique_violation',
      message = format('The unique key "%s" is held by the job %s', settings ->> 'key', taken.job_id),
      detail = taken.job_id;
  end if;
  if taken.verdict in ('insert', 'queued_behind') then
    perform holdfast.insert_job(owner, line.id, made, case taken.verdict when 'queued_behind' then 1 else 0 end);
  end if;
  return taken.job_id;
end
$$;
`,
  },
  {
    version: 7,
    name: 'events',
    transactional: true,
    checksum: '876d3e21615ce171a8bad8b6231b14b59b4a5d7646b76ae95d6b254aded6a39e',
    sql: `-- An application that emits an event again under the same id, because the answer was lost, makes no second one.
create unique index events_of_applications on holdfast.events (project_id, id) where job_id is null;

-- Which projects subscribed to an event, for statements about jobs of all projects.
create index event_subscriptions_of_event on holdfast.event_subscriptions (event, project_id);

-- Each row is written, numbered once, and removed when its time is over.
alter table holdfast.events set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 50000,
  autovacuum_vacuum_cost_delay = 0
);

-- Since when nobody has heard of the worker; empty while it sends heartbeats, and after a clean stop.
alter table holdfast.workers add column lost_at timestamptz;
`,
  },
  {
    version: 8,
    name: 'jobs_of_key',
    transactional: false,
    checksum: '58d87a7f46a05e29043c672ed254fe915c92189d6721b1deefb027a45f1cfd5c',
    sql: `-- no-transaction
create index concurrently if not exists jobs_of_key on holdfast.jobs (project_id, (unique_lock ->> 'key'), id)
where unique_lock is not null;
`,
  },
  {
    version: 9,
    name: 'unique_key_upkeep',
    transactional: true,
    checksum: '0230852fff6b4a0287912cadb7ffd2dc2defca1861388a6ab61beda612cc70a0',
    sql: `-- Unique keys of jobs that live again, and of jobs that are gone.

-- Takes the keys of jobs that are about to live again: dead letters, and jobs that were cancelled with their parent.
-- Answers those whose key another job holds, with that job; they must stay as they are. Their time begins anew.
create function holdfast.reacquire_unique_keys(project uuid, job_ids uuid[])
returns table (job_id uuid, holder_id uuid)
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  -- Of jobs that share a key, the first may have it.
  wanted jsonb;
  fresh bytea[];
begin
  select jsonb_agg(
    j.unique_lock || jsonb_build_object('jobId', j.id, 'seq', j.execution_seq, 'onConflict', 'keep') order by j.id
  )
  into wanted
  from unnest(job_ids) as n (id)
  cross join lateral (
    select a.id, a.unique_lock, a.execution_seq
    from holdfast.all_jobs as a
    where a.project_id = project and a.id = n.id
      and (a.status = 'dead_letter' or a.status = 'cancelled' and a.reason = 'parent_failed')
    limit 1
  ) as j
  where j.unique_lock is not null;
  if wanted is null then
    return;
  end if;

  fresh := holdfast.lock_unique_keys(project, (
    select jsonb_agg(f.request)
    from (
      select distinct on (r.request ->> 'digest') r.request
      from jsonb_array_elements(wanted) as r (request)
      order by r.request ->> 'digest', r.request ->> 'jobId'
    ) as f
  ));
  return query
  with decided as materialized (
    select
      d.request, d.lock_row, (d.request ->> 'jobId')::uuid as id,
      coalesce(
        d.holder_id,
        first_value((d.request ->> 'jobId')::uuid) over (partition by d.lock_row order by d.request ->> 'jobId')
      ) as winner_id
    from unnest(holdfast.decide_unique_keys(project, wanted, fresh)) as d
  ),
  locked as (
    update holdfast.unique_locks as l
    set
      job_id = d.id,
      until = d.request ->> 'until',
      execution_seq = (d.request -> 'seq')::integer,
      expires_at = clock_timestamp() + (d.request -> 'ttlMs')::double precision * interval '1 millisecond',
      next_job_id = null,
      acquired_at = clock_timestamp()
    from decided as d
    where l.ctid = d.lock_row and d.winner_id = d.id
  )
  select d.id, d.winner_id from decided as d where d.winner_id <> d.id;
end
$$;

-- Removes locks whose jobs are gone, a page of those that were taken longest ago; answers how many. Here too the rows
-- are locked before their jobs are looked at.
create function holdfast.forget_unique_keys(unused_ms double precision, page integer) returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  picked tid[];
  forgotten integer;
begin
  select array_agg(found.row_id) into picked
  from (
    select l.ctid as row_id
    from holdfast.unique_locks as l
    where l.acquired_at < clock_timestamp() - unused_ms * interval '1 millisecond'
      and coalesce(l.expires_at <= clock_timestamp(), true)
      and not exists (
        select from holdfast.jobs as j where j.project_id = l.project_id and j.id in (l.job_id, l.next_job_id)
      )
    order by l.acquired_at
    limit page
    for update skip locked
  ) as found;
  delete from holdfast.unique_locks as l
  where l.ctid = any (picked)
    and coalesce(l.expires_at <= clock_timestamp(), true)
    and not exists (
      select from holdfast.jobs as j where j.project_id = l.project_id and j.id in (l.job_id, l.next_job_id)
    );
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
`,
  },
  {
    version: 10,
    name: 'ids_in_order',
    transactional: true,
    checksum: '7b4bab532b4cd4a02aba5cd901d4b6c15675dd4d088f3c3ea61cbb211987f9eb',
    sql: `-- A UUIDv7 (RFC 9562, section 5.7) with the milliseconds in front, then 12 bits of their fraction (section 6.2, method 3):
-- ids that one session makes by calls of their own sort in the order of the calls.
create or replace function holdfast.uuid_v7() returns uuid
language sql volatile
return (
  select encode(
    set_byte(set_byte(
      overlay(uuid_send(gen_random_uuid()) placing substring(int8send(micros / 1000) from 3) from 1 for 6),
      6, 112 + (fraction >> 8)::integer
    ), 7, (fraction & 255)::integer),
    'hex'
  )::uuid
  from (
    select micros, (micros % 1000) * 4096 / 1000 as fraction
    from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros) as clock
  ) as parts
);
`,
  },
  {
    version: 11,
    name: 'payload_versions',
    transactional: true,
    checksum: '9d67a964fe81f8667a2ffb58a568ddbc5c58cecbc1ffb09b409170da60b6eca7',
    sql: `-- Versions of payloads: what shape the payload of a job has, so that only workers that know the shape take the job.

-- The view, then its tables: the order of whoever reads it, who would otherwise wait for this while this waits for them.
-- In a block, as psql takes it outside of a transaction too.
do $$ begin
  lock table holdfast.all_jobs in access exclusive mode;
end $$;

-- Null is version 1, so that whoever says nothing of versions pays nothing. The constraints need no validation: every row
-- that exists has null.
alter table holdfast.jobs
  add column payload_version smallint,
  add constraint jobs_payload_version_range check (payload_version >= 2) not valid;
alter table holdfast.job_history
  add column payload_version smallint,
  add constraint jobs_payload_version_range check (payload_version >= 2) not valid;

create or replace view holdfast.all_jobs as
select * from holdfast.jobs
union all
select * from holdfast.job_history;

-- What workers say of the payloads that they take: one row for each version of a type.
create table holdfast.payload_contracts (
  project_id uuid not null references holdfast.projects (id) on delete cascade,
  type text collate "C" not null check (char_length(type) between 1 and 128),
  version smallint not null check (version >= 1),
  -- What describes the payload, in JSON Schema; null when its schema cannot say so.
  json_schema jsonb,
  -- SHA-256 of the JSON Schema in hexadecimal digits.
  fingerprint text collate "C",
  first_seen_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  primary key (project_id, type, version),
  check ((json_schema is null) = (fingerprint is null))
);

-- The version as jobs have it, of a document that may say "payloadVersion"; null for 1. JSON may write 2 as 2.0.
create function holdfast.stored_payload_version(said jsonb) returns smallint
language sql immutable parallel safe
return nullif((said ->> 'payloadVersion')::numeric::smallint, 1::smallint);

-- As before, and the version goes with the payload.
create or replace function holdfast.apply_unique_decisions(project uuid, decisions holdfast.unique_decision[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  update holdfast.unique_locks as l
  set
    job_id = case when d.verdict = 'insert' then (d.request ->> 'jobId')::uuid else d.holder_id end,
    until = case when d.verdict = 'insert' then d.request ->> 'until' when d.is_promoted then 'done' else l.until end,
    execution_seq = case when d.verdict = 'insert' or d.is_promoted then 0 else l.execution_seq end,
    expires_at = case
      when d.verdict = 'insert' then
        clock_timestamp() + (d.request -> 'ttlMs')::double precision * interval '1 millisecond'
      when not d.is_promoted then l.expires_at
    end,
    next_job_id = case
      when d.verdict = 'queued_behind' then (d.request ->> 'jobId')::uuid
      when d.verdict <> 'insert' and not d.is_promoted then l.next_job_id
    end,
    acquired_at = clock_timestamp()
  from unnest(decisions) as d
  where l.ctid = d.lock_row and not d.is_fresh
    and (d.verdict in ('insert', 'queued_behind') or (d.is_promoted and d.verdict <> 'existing'));

  if exists (select from unnest(decisions) as d where d.verdict in ('replaced', 'debounced')) then
    update holdfast.jobs as j
    set
      payload = (d.request ->> 'payload')::jsonb,
      payload_version = holdfast.stored_payload_version(d.request),
      priority = (d.request -> 'priority')::smallint,
      tags = case
        when d.request ? 'tags' then array(select jsonb_array_elements_text(d.request -> 'tags'))
      end,
      metadata = (d.request ->> 'metadata')::jsonb,
      run_at = case
        when d.verdict = 'debounced' and j.pending_parents = 0 then
          least(
            clock_timestamp() + (d.request -> 'waitMs')::double precision * interval '1 millisecond',
            j.created_at + coalesce(
              (d.request -> 'maxWaitMs')::double precision * interval '1 millisecond', interval '10 years'
            )
          )
        else j.run_at
      end
    from unnest(decisions) as d
    where j.ctid = d.job_row and j.id = d.job_id and d.verdict in ('replaced', 'debounced')
      and j.status in ('queued', 'scheduled');
  end if;

  if exists (select from unnest(decisions) as d where d.verdict = 'queued_behind') then
    update holdfast.jobs as j
    set has_children = true
    from unnest(decisions) as d
    where j.ctid = d.holder_row and j.id = d.holder_id and d.verdict = 'queued_behind' and not j.has_children;

    insert into holdfast.job_dependencies (project_id, parent_id, child_id, on_failure, child_delay_ms)
    select
      project, d.holder_id, (d.request ->> 'jobId')::uuid, 'run',
      greatest(0, (d.request -> 'delayMs')::double precision, extract(
        epoch from (d.request ->> 'runAt')::timestamptz - clock_timestamp()
      )::double precision * 1000)
    from unnest(decisions) as d
    where d.verdict = 'queued_behind';
  end if;
end
$$;

-- As before, with the option payloadVersion.
create or replace function holdfast.option_problems(options jsonb) returns text[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  is_debounced constant boolean := options #>> '{unique,onConflict}' = 'debounce';
  problems constant text[] := holdfast.unknown_options(
    options, '{id,delay,runAt,priority,tags,metadata,maxAttempts,timeout,startDeadline,unique,payloadVersion}', ''
  );
begin
  if jsonb_typeof(options) <> 'object' then
    return problems;
  end if;
  return problems || array_remove(array[
    case when options ? 'id' and options ->> 'id' !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then 'id must be a UUID in lower case' end,
    case when options ? 'delay' and options ? 'runAt' then 'delay and runAt cannot both be set' end,
    case when is_debounced and (options ? 'delay' or options ? 'runAt')
      then 'delay and runAt cannot be set with debounce: unique.wait is the delay' end,
    case when options ? 'delay' and holdfast.duration_ms(options -> 'delay') is null
      then 'delay must be milliseconds or a duration such as "30s", "5m" or "PT5M"' end,
    case when options ? 'runAt' and not holdfast.is_instant(options ->> 'runAt')
      then 'runAt must be an RFC 3339 date and time with an offset'
      when (options ->> 'runAt')::timestamptz > clock_timestamp() + interval '3650 days'
      then 'runAt must be within the next ten years' end,
    case when options ? 'priority' and not holdfast.is_whole(options -> 'priority', 0, 9)
      then 'priority must be a whole number from 0 to 9' end,
    case when options ? 'tags' and not holdfast.are_tags(options -> 'tags')
      then 'tags must be at most 20 different words of 1 to 64 characters' end,
    case when options ? 'metadata' and jsonb_typeof(options -> 'metadata') <> 'object'
      then 'metadata must be an object'
      when octet_length((options -> 'metadata')::text) > 8192
      then 'metadata must be at most 8 kB of JSON' end,
    case when options ? 'maxAttempts' and not holdfast.is_whole(options -> 'maxAttempts', 1, 100)
      then 'maxAttempts must be a whole number from 1 to 100' end,
    case when options ? 'payloadVersion' and not holdfast.is_whole(options -> 'payloadVersion', 1, 32767)
      then 'payloadVersion must be a whole number from 1 to 32767' end,
    case when options ? 'timeout' and coalesce(holdfast.duration_ms(options -> 'timeout') not between 1 and 86400000, true)
      then 'timeout must be a duration of at most a day' end,
    case when options ? 'startDeadline' and not holdfast.is_instant(options ->> 'startDeadline')
      and coalesce(holdfast.duration_ms(options -> 'startDeadline'), 0) < 1
      then 'startDeadline must be a duration, or an RFC 3339 date and time with an offset' end
  ], null) || case when options ? 'unique' then holdfast.unique_problems(options -> 'unique') else '{}' end;
end
$$;

-- As before, with payloadVersion? in what is made.
create or replace function holdfast.insert_job(project uuid, line_id bigint, made jsonb, parents integer) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  is_due constant boolean := parents = 0 and not made ?| '{delayMs,runAt}';
  due_at constant timestamptz := case
    when parents > 0 then 'infinity'
    else greatest(
      now_at, (made ->> 'runAt')::timestamptz,
      now_at + (made -> 'delayMs')::double precision * interval '1 millisecond'
    )
  end;
  is_new boolean;
begin
  insert into holdfast.jobs (
    project_id, id, queue_id, type, payload, priority, max_attempts, timeout_ms, retry, tags, metadata,
    start_deadline_at, unique_lock, has_children, payload_version, pending_parents, status, seq, run_at, created_at
  )
  values (
    project, (made ->> 'id')::uuid, line_id, made ->> 'type', made -> 'payload', (made -> 'priority')::smallint,
    (made -> 'maxAttempts')::integer, (made -> 'timeoutMs')::integer, made -> 'retry',
    case when made ? 'tags' then array(select jsonb_array_elements_text(made -> 'tags')) end, made -> 'metadata',
    holdfast.start_deadline(made), made -> 'unique', (made -> 'hasChildren')::boolean,
    holdfast.stored_payload_version(made), parents,
    case when is_due then 'queued'::holdfast.job_status else 'scheduled' end,
    case when is_due then nextval('holdfast.job_seq') end, due_at, now_at
  )
  on conflict do nothing
  returning true into is_new;

  insert into holdfast.events (project_id, event, job_id, data)
  select
    project, s.event, (made ->> 'id')::uuid,
    jsonb_build_object('type', made -> 'type', 'queue', made -> 'queue', 'attempt', 0, 'executionSeq', 0) || case
      when is_due then '{}'
      when parents > 0 then '{"reason": "parents_pending"}'
      else jsonb_build_object('nextDelayMs', round(extract(epoch from due_at - now_at) * 1000))
    end
  from holdfast.event_subscriptions as s
  where is_new and s.project_id = project and s.event = case when is_due then 'JobQueued' else 'JobScheduled' end
  limit 1;
end
$$;

-- As before, with the option payloadVersion.
create or replace function holdfast.enqueue(
  project text, queue text, type text, payload jsonb default '{}', options jsonb default '{}'
) returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  said jsonb := holdfast.said_options(coalesce(options, '{}'));
  content constant jsonb := coalesce(payload, '{}');
  settings constant jsonb := holdfast.said_options(said -> 'unique');
  mode constant text := coalesce(settings ->> 'onConflict', 'keep');
  problems text[];
  owner uuid;
  line record;
  made jsonb;
  taken record;
begin
  if settings is not null then
    said := said || jsonb_build_object('unique', settings);
  end if;
  problems := holdfast.option_problems(said) || array_remove(array[
    case when not holdfast.is_name(queue) then 'queue must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -' end,
    case when not holdfast.is_name(type) then 'type must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -' end,
    case when octet_length(content::text) > 1048576 then 'payload must be at most 1 MB of JSON' end
  ], null);
  if cardinality(problems) > 0 then
    raise exception using
      errcode = 'invalid_parameter_value', message = 'holdfast.enqueue: ' || array_to_string(problems, '; ');
  end if;
  select p.id into owner from holdfast.projects as p where p.slug = enqueue.project;
  if owner is null then
    raise exception using
      errcode = 'invalid_parameter_value', message = format('holdfast.enqueue: there is no project "%s"', project);
  end if;

  -- An id that is given may have been used before.
  if exists (select from holdfast.job_history as h where h.project_id = owner and h.id = (said ->> 'id')::uuid) then
    return (said ->> 'id')::uuid;
  end if;
  line := holdfast.queue_of_name(owner, queue);
  made := holdfast.said_options(jsonb_build_object(
    'id', coalesce((said ->> 'id')::uuid, holdfast.uuid_v7()),
    'type', type,
    'queue', queue,
    'priority', coalesce(said -> 'priority', '5'),
    'maxAttempts', coalesce(said -> 'maxAttempts', line.job_defaults -> 'maxAttempts', '5'),
    'timeoutMs', coalesce(
      to_jsonb(holdfast.duration_ms(said -> 'timeout')), line.job_defaults -> 'timeoutMs', '300000'
    ),
    'retry', line.job_defaults -> 'retry',
    'tags', nullif(said -> 'tags', '[]'),
    'metadata', nullif(said -> 'metadata', '{}'),
    'hasChildren', mode = 'queue_latest',
    'payloadVersion', said -> 'payloadVersion',
    'delayMs', nullif(holdfast.duration_ms(coalesce(settings -> 'wait', said -> 'delay')), 0),
    -- An instant that has passed means now: such a job goes straight into the line.
    'runAt', case when (said ->> 'runAt')::timestamptz > clock_timestamp() then said -> 'runAt' end,
    'startDeadlineAt', case when holdfast.is_instant(said ->> 'startDeadline') then said -> 'startDeadline' end,
    'startDeadlineMs', holdfast.duration_ms(said -> 'startDeadline')
  )) || jsonb_build_object('payload', content);
  if settings is null then
    perform holdfast.insert_job(owner, line.id, made, 0);
    return (made ->> 'id')::uuid;
  end if;

  made := made || jsonb_build_object('unique', holdfast.unique_lock_of(settings, type, queue));
  select * into taken
  from holdfast.acquire_unique_keys(owner, jsonb_build_array(
    (made - '{id,payload,metadata}'::text[]) || (made -> 'unique') || holdfast.said_options(jsonb_build_object(
      'no', 0,
      'jobId', made -> 'id',
      'onConflict', mode,
      'payload', content::text,
      'metadata', made ->> 'metadata',
      'waitMs', holdfast.duration_ms(settings -> 'wait'),
      'maxWaitMs', holdfast.duration_ms(settings -> 'maxWait')
    ))
  ));
  if taken.verdict = 'rejected' then
    raise exception using
      errcode = 'unique_violation',
      message = format('The unique key "%s" is held by the job %s', settings ->> 'key', taken.job_id),
      detail = taken.job_id;
  end if;
  if taken.verdict in ('insert', 'queued_behind') then
    perform holdfast.insert_job(owner, line.id, made, case taken.verdict when 'queued_behind' then 1 else 0 end);
  end if;
  return taken.job_id;
end
$$;
`,
  },
];
