-- Versions of payloads: what shape the payload of a job has, so that only workers that know the shape take the job.

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
