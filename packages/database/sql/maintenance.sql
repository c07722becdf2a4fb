-- What the schedulers do besides: due instants, rollups, partitions, retention.

-- name: next_due_in
-- Milliseconds until the next scheduled job, the next deadline of one that has not started, or the next end of a pause;
-- null when there is none.
select extract(epoch from least(
  (select min(j.run_at) from holdfast.jobs as j where j.status = 'scheduled' and j.run_at < 'infinity'),
  (
    select min(j.start_deadline_at)
    from holdfast.jobs as j
    where j.start_deadline_at is not null and j.status in ('queued', 'scheduled')
      and j.attempt = 0 and j.release_count = 0 and j.crash_count = 0
  ),
  (select min(q.paused_until) from holdfast.queues as q)
) - clock_timestamp())::double precision * 1000 as due_in_ms;

-- name: observe_timeline
-- Notes the server's timeline; answers how long ago it changed. After a failover nothing is reaped for one lease.
with seen as (
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
) as s;

-- name: record_stats
-- Adds a worker's counts to its own rows of this minute.
insert into holdfast.stats_minutely as s (
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
  run_buckets = holdfast.add_counts(s.run_buckets, excluded.run_buckets);

-- name: merge_stats
-- Merges the shards of minutes that are over into one row each.
with old as (
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
  run_buckets = holdfast.add_counts(s.run_buckets, excluded.run_buckets);

-- name: forget_stats
delete from holdfast.stats_minutely
where minute < clock_timestamp() - $1::double precision * interval '1 millisecond';

-- name: list_partitions
-- The daily partitions of a table, with the day that each begins with; the default partition is not among them.
select c.relname as name, substring(c.relname from '\d{8}$') as day
from pg_inherits as i
join pg_class as c on c.oid = i.inhrelid
where i.inhparent = to_regclass('holdfast.' || $1::text) and c.relname ~ '_\d{8}$'
order by c.relname;

-- name: count_unpartitioned
-- Rows that found no partition of their day; more than retention leaves there is an alarm.
select
  (select count(*) from holdfast.job_history_default where status <> 'dead_letter' and finished_at > clock_timestamp() - interval '1 day')
  + (select count(*) from holdfast.job_executions_default where recorded_at > clock_timestamp() - interval '1 day')
  + (select count(*) from holdfast.job_logs_default where logged_at > clock_timestamp() - interval '1 day') as row_count;

-- name: forget_unpartitioned_history
-- Ends the retention of rows in the default partition, page by page.
delete from holdfast.job_history_default as h
using (
  select project_id, id, finished_at
  from holdfast.job_history_default
  where finished_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
  limit $2
) as old
where h.project_id = old.project_id and h.id = old.id and h.finished_at = old.finished_at
returning h.id;

-- name: forget_unpartitioned_executions
-- Executions kept past their partition go when their job is gone.
delete from holdfast.job_executions_default as e
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
returning e.job_id;

-- name: forget_unpartitioned_logs
-- Log lines kept past their partition go when their job is gone.
delete from holdfast.job_logs_default as l
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
returning l.job_id;

-- name: forget_batches
-- Batches go when the history of their members has gone, inner ones first. One with a job that can still change stays.
with old as materialized (
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
returning b.id;

-- name: forget_dependencies
-- Edges go when both of their jobs are gone.
delete from holdfast.job_dependencies as d
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
returning d.child_id as id;

-- name: forget_late_results
-- Late results go when their job is gone.
delete from holdfast.job_late_results as r
using (
  select x.project_id, x.job_id, x.execution_seq
  from holdfast.job_late_results as x
  where x.recorded_at < clock_timestamp() - $1::double precision * interval '1 millisecond'
    and not exists (select 1 from holdfast.jobs as j where j.project_id = x.project_id and j.id = x.job_id)
    and not exists (select 1 from holdfast.job_history as h where h.project_id = x.project_id and h.id = x.job_id)
  limit $2
) as old
where r.project_id = old.project_id and r.job_id = old.job_id and r.execution_seq = old.execution_seq
returning r.job_id;

-- name: forget_idempotency_keys
delete from holdfast.idempotency_keys as k
using (
  select project_id, key_hash
  from holdfast.idempotency_keys
  where created_at < clock_timestamp() - interval '24 hours'
  limit $1
) as old
where k.project_id = old.project_id and k.key_hash = old.key_hash
returning k.project_id;

-- name: read_server
-- What the acknowledgements of this server survive, and which version it is.
select
  current_setting('server_version_num')::integer as version_number,
  current_setting('server_version') as version,
  current_setting('fsync') = 'on' as fsync,
  current_setting('full_page_writes') = 'on' as full_page_writes,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('synchronous_standby_names') as synchronous_standby_names,
  current_setting('data_checksums') = 'on' as data_checksums,
  pg_is_in_recovery() as in_recovery,
  pg_postmaster_start_time() as started_at,
  extract(epoch from clock_timestamp())::double precision * 1000 as now_ms;
