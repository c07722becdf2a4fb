import { readFileSync, statSync } from 'node:fs';
import type { BenchServer } from './bench-server.ts';

/** A statement that waited for a row which another transaction had locked. */
export interface LockWait {
  /** Of the row. */
  readonly table: string;
  readonly tookMs: number;
}

/** The server writes a wait down when it has lasted this long. */
export const longWaitMs = 5;

/**
 * Lets the server write down every statement that waits for another transaction's lock, while something is done. Waits for
 * the end of a table file, which belong to no row, are left out.
 */
export async function watchLockWaits<Result>(
  server: BenchServer,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly waits: readonly LockWait[] }> {
  await set(server, { log_lock_waits: 'on', deadlock_timeout: `${String(longWaitMs)}ms` });
  const log = await logFileOf(server);
  const before = statSync(log).size;
  const result = await work();
  await set(server, { log_lock_waits: undefined, deadlock_timeout: undefined });
  return { result, waits: readWaits(readFileSync(log).subarray(before).toString('utf8')) };
}

async function set(
  server: BenchServer,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  for (const [name, value] of Object.entries(settings)) {
    const sql =
      value === undefined ? `alter system reset ${name}` : `alter system set ${name} = '${value}'`;
    await server.database.execute(sql);
  }
  await server.database.execute('select pg_reload_conf()');
}

async function logFileOf(server: BenchServer): Promise<string> {
  const [row] = await server.ask<{ readonly folder: string }>(
    `select current_setting('data_directory') as folder`,
  );
  return `${row?.folder ?? ''}.log`;
}

/** Each wait is told of twice: when it has lasted for a while, and when it is over, with the table in the lines behind. */
function readWaits(log: string): readonly LockWait[] {
  const pattern =
    /acquired \w+ on (?:transaction|tuple) .* after ([\d.]+) ms\n(?:(?!LOG).*\n)*?.*in relation "(\w+)"/g;
  return [...log.matchAll(pattern)].map(([, ms, table = '']) => ({ table, tookMs: Number(ms) }));
}
