import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { inspect } from 'node:util';
import { waitFor } from '@holdfast/testing';
import { createWorker, defineJob, HoldfastError } from 'holdfast';
import pg from 'pg';
import { makeFixtures, statusesOf } from './call-fixtures.ts';
import type { CallFixtures, OwnNames } from './call-fixtures.ts';
import { root } from './markdown.ts';
import type { JobContext } from 'holdfast';

export type { CallFixtures } from './call-fixtures.ts';

type Handle = (payload: unknown, ctx: JobContext) => Promise<unknown>;

/** A call of a page that can be run. */
export type CallOf<Names> = { readonly text: string } & (
  | { readonly kind: 'sql' | 'command' }
  | {
      readonly kind: 'handler';
      readonly run: (names: Names) => Handle;
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

/** Runs the calls of each cell on tables that are empty but for what it needs; the results go to `CALL_RESULTS`. */
export async function runCells<Own extends OwnNames>(
  setUp: () => Own,
  cells: readonly (readonly CallOf<Own & CallFixtures>[])[],
): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const results: CallResult[] = [];
  for (const calls of cells) {
    await emptyTables(client);
    results.push(...(await runCell(calls, { setUp, client })));
  }
  await client.end();
  writeFileSync(env['CALL_RESULTS'] ?? 'results.json', JSON.stringify(results));
}

interface Ground<Own> {
  readonly setUp: () => Own;
  readonly client: pg.Client;
}

/** All calls of a cell find what the earlier ones left. */
async function runCell<Own extends OwnNames>(
  calls: readonly CallOf<Own & CallFixtures>[],
  { setUp, client }: Ground<Own>,
): Promise<readonly CallResult[]> {
  const own = setUp();
  const uses = new Set(calls.flatMap((call) => (call.kind === 'call' ? call.uses : [])));
  // Its queue must be there, or something to be listed.
  if (calls.some(({ text }) => /queues\.(get|purge)\(|status: 'queued'/.test(text)))
    uses.add('job');
  const fixtures = await makeFixtures(own, { uses, client });
  // Only those that the calls say are there.
  const names = { ...own, ...fixtures } as Own & CallFixtures;
  const results: CallResult[] = [];
  for (const call of calls) results.push(await runCall(call, { own, names, client }));
  const after = await statusesOf(own, fixtures);
  await client.query('rollback');
  await own.worker.stop();
  await own.holdfast.close();
  await fixtures.jobs?.close();
  return results.map((result) => ({ ...result, after }));
}

async function runCall<Own extends OwnNames>(
  call: CallOf<Own & CallFixtures>,
  scene: Scene<Own>,
): Promise<CallResult> {
  const { text } = call;
  const lines: unknown[] = [];
  const writeLine = console.log;
  console.log = (...words) => void lines.push(words);
  try {
    const value = await valueOf(call, scene);
    const again =
      call.kind === 'call' && text.includes('unique:')
        ? await call.run(scene.names).catch(codeOf)
        : undefined;
    return { text, value, again, logged: lines.length };
  } catch (error) {
    return { text, logged: lines.length, error: inspect(error) };
  } finally {
    console.log = writeLine;
  }
}

function codeOf(error: unknown): unknown {
  if (error instanceof HoldfastError) return { code: error.code };
  throw error;
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
      return runInHandler(own, { text: call.text, handle: call.run(names) });
    case 'call': {
      if (call.text.includes('.wait(')) await own.worker.start();
      if (call.text.includes('worker.run()')) interruptWhenItListens().catch(() => undefined);
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
  if ('defaults' in given) return useDefinition(own, given as OwnNames['sendMail']);
  if ('id' in given && 'batches' in given) return endOfBatch(own, String(given.id));
  if ('deduplicated' in given && 'id' in given) {
    const job = await own.holdfast.get(String(given.id)).catch(codeOf);
    return { ...given, job };
  }
  if ('drain' in given) return useTestHoldfast(given as CallFixtures['jobs']);
  return given;
}

async function useTestHoldfast(jobs: CallFixtures['jobs']): Promise<unknown> {
  const ran = await jobs.drain();
  await jobs.close();
  return ran;
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
    const { status, result } = await holdfast.wait(id, { timeout: '45s' });
    return { status, result };
  } finally {
    await worker.stop();
  }
}

/** A job of a definition, after one attempt unless it has no handler here. */
async function useDefinition(own: OwnNames, job: OwnNames['sendMail']): Promise<unknown> {
  const { holdfast, ada } = own;
  const canRun = job.run !== undefined && job.defaults.isolate === undefined;
  const enqueue = () => holdfast.enqueue(job, ada);
  if (canRun) return afterOneAttempt(own, createWorker({ holdfast, jobs: [job] }), enqueue);
  return holdfast.get((await enqueue()).id);
}

/** The batch when all its jobs have ended, and all that it called for. */
async function endOfBatch({ holdfast, worker }: OwnNames, id: string): Promise<unknown> {
  await worker.start();
  const batch = await waitFor('the batch and its callbacks have ended', async () => {
    const found = await holdfast.batches.get(id);
    const isPending = found.callbacks.some(({ enqueuedAt, endedAt }) => enqueuedAt && !endedAt);
    return found.status !== 'running' && !isPending && found;
  });
  const made = batch.callbacks.flatMap(({ role, enqueuedAt }) => (enqueuedAt ? [role] : []));
  return { ...batch, made: [...new Set(made)].sort() };
}

/** One attempt of a job whose handler is the call; behind another job where it asks for what that one gave. */
async function runInHandler(
  own: OwnNames,
  { text, handle }: { readonly text: string; readonly handle: Handle },
): Promise<unknown> {
  const { holdfast, sendMail, ada } = own;
  const call = defineJob<unknown>({ type: 'call', run: handle });
  const isMember = /ctx\.(?:parents|batch)/.test(text);
  const worker = createWorker({ holdfast, jobs: [call, sendMail] });
  return afterOneAttempt(own, worker, async () => {
    if (!isMember) return holdfast.enqueue(call, {});
    const { jobIds } = await holdfast.chain([sendMail.with(ada), call.with({})]).enqueue();
    return { id: jobIds[1] ?? '' };
  });
}

async function afterOneAttempt(
  { holdfast }: OwnNames,
  worker: OwnNames['worker'],
  enqueue: () => Promise<{ readonly id: string }>,
): Promise<unknown> {
  const ended = new Set<string>();
  const events = ['JobProcessed', 'JobReleased', 'JobExceptionOccurred', 'JobFailed'] as const;
  for (const event of events) holdfast.on(event, ({ jobId }) => ended.add(jobId));
  const { id } = await enqueue();
  await worker.start();
  await waitFor('the attempt has ended', () => ended.has(id));
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

/** Deletes, since to truncate makes new files. */
async function emptyTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ text: string }>(
    `select string_agg(format('delete from holdfast.%I;', table_name), ' ') as text
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema = 'holdfast' and table_type = 'BASE TABLE' and column_name = 'project_id'`,
  );
  // Of one project all is deleted, so no order of the tables is needed.
  await client.query(`set session_replication_role = replica; ${rows[0]?.text ?? ''}`);
  await client.query('set session_replication_role = default');
}
