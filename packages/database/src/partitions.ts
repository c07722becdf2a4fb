import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Statement } from './generated/statements.ts';

/** The tables that are partitioned by day, with the column that says which day. */
export const partitionedTables = {
  job_history: 'finished_at',
  job_executions: 'recorded_at',
  job_logs: 'logged_at',
} as const;

/** The name of a partitioned table. */
export type PartitionedTable = keyof typeof partitionedTables;

const daysAhead = 7;
const dayMs = 86_400_000;

const readToday: Statement = {
  name: 'read_today',
  text: `select extract(epoch from date_trunc('day', clock_timestamp(), 'UTC'))::double precision * 1000 as today_ms`,
};

/**
 * Makes the daily partitions from yesterday to a week ahead where they are missing. Any number of processes may do it at
 * once. A day without a partition is no failure: its rows go to the default partition, and an alarm is raised.
 *
 * @returns the names of the partitions that were made.
 */
export async function ensurePartitions(database: Database): Promise<readonly string[]> {
  const [row] = await database.query<{ readonly today_ms: number }>(readToday);
  if (row === undefined) return [];
  const made: string[] = [];
  for (const table of Object.keys(partitionedTables) as PartitionedTable[]) {
    const existing = new Set((await listPartitions(database, table)).map(({ name }) => name));
    for (let day = -1; day <= daysAhead; day += 1) {
      const name = partitionName(table, row.today_ms + day * dayMs);
      if (existing.has(name)) continue;
      await makePartition(database, { table, name, fromMs: row.today_ms + day * dayMs });
      made.push(name);
    }
  }
  return made;
}

/** The daily partitions of a table, oldest first. `day` is YYYYMMDD, in UTC. */
export async function listPartitions(
  database: Database,
  table: PartitionedTable,
): Promise<readonly { readonly name: string; readonly day: string }[]> {
  return database.query<{ readonly name: string; readonly day: string }>(
    statements.listPartitions,
    [table],
  );
}

/**
 * Drops the partitions whose last day ended longer than `retentionMs` ago. Executions and logs of jobs that are still
 * there (dead letters, jobs that are tried again, jobs that ended later) are kept: they move to the default partition.
 *
 * @returns the names of the partitions that were dropped.
 */
export async function dropExpiredPartitions(
  database: Database,
  retentionMs: number,
): Promise<readonly string[]> {
  const [row] = await database.query<{ readonly today_ms: number }>(readToday);
  if (row === undefined) return [];
  const dropped: string[] = [];
  for (const table of Object.keys(partitionedTables) as PartitionedTable[]) {
    const oldest = partitionName(table, row.today_ms - retentionMs);
    for (const { name, day } of await listPartitions(database, table)) {
      // The day that the bound falls into is still within the retention.
      if (name >= oldest) continue;
      await dropPartition(database, { table, name, toMs: startOfDayMs(day) + dayMs });
      dropped.push(name);
    }
  }
  return dropped;
}

/** Unix milliseconds of the begin of a day, written YYYYMMDD, in UTC. */
function startOfDayMs(day: string): number {
  return Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
}

function partitionName(table: PartitionedTable, dayStartMs: number): string {
  return `${table}_${new Date(dayStartMs).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

async function makePartition(
  database: Database,
  partition: { readonly table: PartitionedTable; readonly name: string; readonly fromMs: number },
): Promise<void> {
  const { table, name, fromMs } = partition;
  const from = new Date(fromMs).toISOString();
  const to = new Date(fromMs + dayMs).toISOString();
  const column = partitionedTables[table];
  // Rows of the day that came while it had no partition would forbid the attachment, so they move first.
  await database.execute(`
    begin isolation level read committed;
    select pg_advisory_xact_lock(hashtext('holdfast.${name}'));
    create table if not exists holdfast.${name} (
      like holdfast.${table} including defaults including constraints
    );
    do $$ begin
      if not exists (select 1 from pg_inherits where inhrelid = 'holdfast.${name}'::regclass) then
        lock table holdfast.${table}_default in access exclusive mode;
        with misplaced as (
          delete from holdfast.${table}_default where ${column} >= '${from}' and ${column} < '${to}' returning *
        )
        insert into holdfast.${name} select * from misplaced;
        alter table holdfast.${table} attach partition holdfast.${name} for values from ('${from}') to ('${to}');
      end if;
    end $$;
    commit;
  `);
}

async function dropPartition(
  database: Database,
  partition: { readonly table: PartitionedTable; readonly name: string; readonly toMs: number },
): Promise<void> {
  const { table, name, toMs } = partition;
  const to = new Date(toMs).toISOString();
  const hasJobs = table !== 'job_history';
  // Found before the detachment, whose lock keeps everybody out. A job has no execution from before its own time.
  const kept = `
    create temporary table kept_rows on commit drop as
    select p.*
    from holdfast.${name} as p
    join (
      select j.project_id, j.id from holdfast.jobs as j where j.created_at < '${to}'
      union
      select h.project_id, h.id from holdfast.job_history as h where h.created_at < '${to}'
    ) as job on job.project_id = p.project_id and job.id = p.job_id;`;
  // Whoever holds the lock drops it; the others have nothing to do.
  await database.execute(`
    begin isolation level read committed;
    set local statement_timeout = '10min';
    do $$ begin
      if not pg_try_advisory_xact_lock(hashtext('holdfast.${name}')) then return; end if;
      if to_regclass('holdfast.${name}') is null then return; end if;
      ${hasJobs ? kept : ''}
      alter table holdfast.${table} detach partition holdfast.${name};
      ${hasJobs ? `insert into holdfast.${table} select * from kept_rows;` : ''}
      drop table holdfast.${name};
    end $$;
    commit;
  `);
}
