-- What jobs have to do with each other: unique keys, batches, dependencies, events, and the steps of a handler.

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
  -- The holder's execution_seq when it took the key; `start` holds until that rises.
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
