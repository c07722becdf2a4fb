import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { inspect } from 'node:util';
import { waitFor } from '@holdfast/testing';
import { createWorker } from 'holdfast';
import pg from 'pg';
import { makeFixtures, statusesOf } from './call-fixtures.ts';
import type { CallFixtures, OwnNames } from './call-fixtures.ts';
import { root } from './markdown.ts';
import type { JobContext } from 'holdfast';

export type { CallFixtures } from './call-fixtures.ts';

/** A call of a page that can be run. */
export type CallOf<Names> = { readonly row: string; readonly text: string } & (
  | { readonly kind: 'sql' | 'command' }
  | {
      readonly kind: 'handler';
      readonly run: (names: Names) => (payload: unknown, ctx: JobContext) => Promise<unknown>;
    }
  | {
      readonly kind: 'call';
      /** The names that it says. */
      readonly uses: readonly string[];
      readonly run: (names: Names) => Promise<unknown>;
    }
);

/** What a call came to. */
export interface CallResult {
  readonly row: string;
  readonly text: string;
  /** What it gave, as JSON; of an enqueue or a handler the job; of a worker what became of a job. */
  readonly value?: unknown;
  /** What an enqueue with a unique key gave when it was made again. */
  readonly again?: unknown;
  /** The statuses of the jobs that it was about, afterwards. */
  readonly after?: Readonly<Record<string, string>>;
  /** How many lines it wrote to the console. */
  readonly logged: number;
  readonly error?: string;
}

const connectionString = env['DATABASE_URL'] ?? '';

/** Runs every call, each cell's on tables that are empty but for what it needs, and writes the results to `CALL_RESULTS`. */
export async function runCalls<Own extends OwnNames>(
  setUp: () => Own,
  calls: readonly CallOf<Own & CallFixtures>[],
): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const results: CallResult[] = [];
  for (const [index, call] of calls.entries()) {
    // Calls in one cell belong together, such as a pause and its end.
    if (call.row !== calls[index - 1]?.row) await emptyTables(client);
    results.push(await runCall(call, { setUp, client }));
  }
  await client.end();
  writeFileSync(env['CALL_RESULTS'] ?? 'results.json', JSON.stringify(results));
}

interface Ground<Own> {
  readonly setUp: () => Own;
  readonly client: pg.Client;
}

async function runCall<Own extends OwnNames>(
  call: CallOf<Own & CallFixtures>,
  { setUp, client }: Ground<Own>,
): Promise<CallResult> {
  const { row, text } = call;
  const own = setUp();
  const lines: unknown[] = [];
  const writeLine = console.log;
  console.log = (...words) => void lines.push(words);
  try {
    const uses = call.kind === 'call' ? call.uses : [];
    const fixtures = await makeFixtures(own, { uses, client });
    // Only those that the call says are there.
    const names = { ...own, ...fixtures } as Own & CallFixtures;
    const value = await valueOf(call, { own, names, client });
    const again =
      call.kind === 'call' && text.includes('unique:') ? await call.run(names) : undefined;
    const after = await statusesOf(own, fixtures);
    return { row, text, value, again, after, logged: lines.length };
  } catch (error) {
    return { row, text, logged: lines.length, error: inspect(error) };
  } finally {
    console.log = writeLine;
    await client.query('rollback');
    await own.worker.stop();
    await own.holdfast.close();
  }
}

interface Scene<Own> {
  readonly own: Own;
  readonly names: Own & CallFixtures;
  readonly client: pg.Client;
}

async function valueOf<Own extends OwnNames>(
  call: CallOf<Own & CallFixtures>,
  { own, names, client }: Scene<Own>,
): Promise<unknown> {
  switch (call.kind) {
    case 'sql':
      return (await client.query(call.text)).rows;
    case 'command':
      return runCommand(call.text);
    case 'handler':
      return runInHandler(own, call.run(names));
    case 'call': {
      if (call.text.includes('.wait(')) await own.worker.start();
      if (call.text.includes('worker.run()')) void interruptWhenItListens();
      const given = await call.run(names);
      if (call.uses.includes('client')) await client.query('commit');
      return shownOf(own, given);
    }
  }
}

/** What is compared of the thing that a call gave. */
async function shownOf(own: OwnNames, given: unknown): Promise<unknown> {
  if (typeof given === 'function') return useListener(own, given as () => void);
  if (typeof given !== 'object' || given === null) return given;
  if ('stop' in given && 'start' in given) return useWorker(own, given as OwnNames['worker']);
  if ('defaults' in given) {
    const { id } = await own.holdfast.enqueue(given as OwnNames['sendMail'], own.ada);
    return own.holdfast.get(id);
  }
  if ('deduplicated' in given && 'id' in given) {
    return { ...given, job: await own.holdfast.get(String(given.id)) };
  }
  return given;
}

/** A job that ends while somebody listens. */
async function useListener(own: OwnNames, stopListening: () => void): Promise<unknown> {
  const job = await useWorker(own, own.worker);
  stopListening();
  return job;
}

async function useWorker({ holdfast, sendMail, ada }: OwnNames, worker: OwnNames['worker']) {
  await worker.start();
  try {
    const { id } = await holdfast.enqueue(sendMail, ada);
    const { status, result } = await holdfast.wait(id, { timeout: '20s' });
    return { status, result };
  } finally {
    await worker.stop();
  }
}

/** One attempt of a job whose handler is the call. */
async function runInHandler(
  { holdfast, sendMail, ada }: OwnNames,
  handle: (payload: unknown, ctx: JobContext) => Promise<unknown>,
): Promise<unknown> {
  const { id } = await holdfast.enqueue(sendMail, ada);
  const ended = new Promise<void>((resolve) => {
    const events = ['JobProcessed', 'JobReleased', 'JobExceptionOccurred', 'JobFailed'] as const;
    for (const event of events) {
      holdfast.on(event, ({ jobId }) => {
        if (jobId === id) resolve();
      });
    }
  });
  const worker = createWorker({ holdfast }).handle(sendMail.type, (payload, ctx) =>
    ctx.job.id === id ? handle(payload, ctx) : undefined,
  );
  await worker.start();
  await ended;
  await worker.stop();
  return holdfast.get(id);
}

async function interruptWhenItListens(): Promise<void> {
  await waitFor('the worker listens to signals', () => process.listenerCount('SIGINT') > 0);
  process.kill(process.pid, 'SIGINT');
}

function runCommand(text: string): string {
  const program = join(root, 'packages/holdfast/src/bin/holdfast.ts');
  const args = [...process.execArgv, program, ...text.split(' ').slice(2)];
  return execFileSync(process.execPath, args, { encoding: 'utf8' });
}

async function emptyTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ tables: string }>(
    `select string_agg(format('holdfast.%I', table_name), ', ') as tables
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'holdfast' and table_type = 'BASE TABLE' and column_name = 'project_id'`,
  );
  await client.query(`truncate ${rows[0]?.tables ?? ''} cascade`);
}
