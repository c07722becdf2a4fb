import { readFileSync, statSync } from 'node:fs';
import type { BenchServer } from './bench-server.ts';

/** A statement that waited for a row which another transaction had locked. */
export interface LockWait {
  /** Of the row. */
  readonly table: string;
  /** The name of the statement that held it. */
  readonly holder: string;
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
  await set(server, logEverything);
  const log = await logFileOf(server);
  const before = statSync(log).size;
  const result = await work();
  await set(
    server,
    Object.fromEntries(Object.keys(logEverything).map((name) => [name, undefined])),
  );
  return { result, waits: readWaits(readFileSync(log).subarray(before).toString('utf8')) };
}

const logEverything = {
  log_lock_waits: 'on',
  deadlock_timeout: `${String(longWaitMs)}ms`,
  log_min_duration_statement: `${String(longWaitMs)}ms`,
  log_parameter_max_length: '0',
  log_line_prefix: '@%p ',
} as const;

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

/** One message of the server's log. */
interface Message {
  readonly pid: string;
  readonly kind: string;
  readonly text: string;
}

/** The messages, whose first lines begin as `log_line_prefix` says. */
function readMessages(log: string): readonly Message[] {
  return log.split(/^(?=@\d+ )/m).flatMap((entry) => {
    const [, pid, kind, text] = /^@(\d+) (\w+): {2}(.*)/s.exec(entry) ?? [];
    return pid === undefined || kind === undefined ? [] : [{ pid, kind, text: text ?? '' }];
  });
}

/**
 * Each wait is told of twice: when it has lasted for a while, with who holds the lock, and when it is over, with the
 * table. What the holder was doing comes to light when its statement ends.
 */
function readWaits(log: string): readonly LockWait[] {
  const messages = readMessages(log);
  const holders = new Map<string, string>();
  return messages.flatMap(({ pid, text }, index) => {
    const rest = messages.slice(index);
    const isAbout = /(still waiting for|acquired) \w+ on (?:transaction|tuple)/.exec(text);
    if (isAbout === null) return [];
    const ofThis = (kind: string): string =>
      rest.find((message) => message.pid === pid && message.kind === kind)?.text ?? '';
    if (isAbout[1] !== 'acquired') {
      const [, holder = ''] = /holding the lock: (\d+)/.exec(ofThis('DETAIL')) ?? [];
      holders.set(pid, statementOf(rest, holder));
      return [];
    }
    const [, table = 'unknown'] = /in relation "(\w+)"/.exec(ofThis('CONTEXT')) ?? [];
    const [, tookMs] = /after ([\d.]+) ms/.exec(text) ?? [];
    return [{ table, holder: holders.get(pid) ?? 'unknown', tookMs: Number(tookMs) }];
  });
}

function statementOf(messages: readonly Message[], pid: string): string {
  for (const message of messages) {
    const [, name] = /^duration: .* execute (\w+):/.exec(message.text) ?? [];
    if (message.pid === pid && name !== undefined) return name;
  }
  return 'unknown';
}
