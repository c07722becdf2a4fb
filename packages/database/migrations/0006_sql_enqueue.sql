-- holdfast.enqueue: for triggers, and for languages without a library of ours. It takes the options of the SDK and keeps
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
    part := regexp_match(written, '^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$');
    if part is not null then
      ms := part[1]::numeric * case part[2]
        when 'ms' then 1 when 's' then 1000 when 'm' then 60000 when 'h' then 3600000 else 86400000
      end;
    else
      part := regexp_match(
        written,
        '^P(?=\d|T\d)(?:(\d{1,5})W)?(?:(\d{1,6})D)?'
          || '(?:T(?=\d)(?:(\d{1,8})H)?(?:(\d{1,9})M)?(?:(\d{1,10}(?:\.\d{1,3})?)S)?)?$'
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
  written ~ '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$',
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
