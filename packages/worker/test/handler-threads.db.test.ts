import { waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openWorkshop } from './support/workshop.ts';
import type { ThreadHandler } from '../src/thread/thread-handler.ts';
import type { Workshop } from './support/workshop.ts';

const module = new URL('./support/thread-handlers.mjs', import.meta.url);
const typedModule = new URL('./support/typed-handlers.ts', import.meta.url);
const importsTyped = new URL('./support/imports-typed.mjs', import.meta.url);
const withoutTsx = new URL('./support/without-tsx.mjs', import.meta.url);
const adapter = new URL('./support/thread-adapter.mjs', import.meta.url);
const threadGraceMs = 300;
const leaseMs = 3_000;

const entry: ThreadHandler = { isolate: 'thread', module, execArgv: [] };
const calls = {
  add: (_context: unknown, ...numbers: readonly unknown[]) =>
    Number(numbers[0]) + Number(numbers[1]),
  fail: () => Promise.reject(Object.assign(new Error('no'), { code: 'NO' })),
};

let shop: Workshop;

beforeAll(async () => {
  shop = await openWorkshop();
  const types = [
    'plain',
    'busy',
    'spin',
    'reports',
    'floods',
    'releases',
    'throws_coded',
    'throws_final',
    'throws_nothing',
    'throws_in_timer',
    'rejects_unhandled',
    'exits',
    'posts',
    'returns_map',
    'returns_nothing',
    'returns_bigint',
    'steps',
    'transacts',
    'missing',
    'defined',
  ];
  await shop.start({
    handlers: {
      ...Object.fromEntries(types.map((type) => [type, entry])),
      calls: { ...entry, calls },
      closes_port: { ...entry, calls },
      calls_too_deep: { ...entry, calls },
      eats_memory: { ...entry, resourceLimits: { maxOldGenerationSizeMb: 32 } },
      named: { ...entry, exportName: 'named' },
      adapted: { ...entry, adapter },
      typed: { ...entry, module: typedModule },
      defined: {
        ...entry,
        wrap: (handler) => async (payload, context) => [await handler(payload, context)],
      },
      unread: { ...entry, module: typedModule, execArgv: ['--import', String(withoutTsx)] },
      imports_unread: {
        ...entry,
        module: importsTyped,
        execArgv: ['--import', String(withoutTsx)],
      },
      lost: { ...entry, module: 'file:///nowhere/module.mjs' },
    },
    threadGraceMs,
    leaseMs,
  });
  // With the usual grace: its thread may start slowly, and is to hear of the abort all the same.
  await shop.start({ handlers: { until_aborted: entry }, leaseMs });
});
afterAll(async () => {
  await shop.close();
});

async function run(type: string, more: object = {}) {
  const id = await shop.enqueue(type, more);
  return { id, ...(await shop.untilEnded(id)) };
}

describe('a handler in a thread', () => {
  it('is given the payload and the job, and gives its result', async () => {
    const job = await run('plain', {
      payloadJson: '{"n":1}',
      metadataJson: '{"a":2}',
      tags: ['t'],
    });
    expect(job).toMatchObject({
      status: 'completed',
      result: {
        payload: { n: 1 },
        job: {
          id: job.id,
          type: 'plain',
          queue: 'work',
          executionSeq: 1,
          metadata: { a: 2 },
          tags: ['t'],
        },
        attempt: 1,
      },
    });
  });

  it('is found by its export, as a definition of the type, and through an adapter', async () => {
    expect(await run('named')).toMatchObject({ result: 'by its export' });
    expect(await run('defined', { payloadJson: '7' })).toMatchObject({ result: [['hello', 7]] });
    expect(await run('adapted', { payloadJson: '8' })).toMatchObject({
      result: { type: 'adapted', found: 8 },
    });
  });

  it('may be TypeScript where Node or tsx can read it', async () => {
    const payloadJson = '{"to":"you"}';
    expect(await run('typed', { payloadJson })).toMatchObject({ result: ['hello', 'you'] });
  });

  it.each([
    ['returns_map', {}],
    ['returns_nothing', null],
    ['returns_bigint', { n: '12345678901234567890' }],
  ])('%s', async (type, result) => {
    expect(await run(type)).toMatchObject({ status: 'completed', result });
  });

  it('writes to the log and reports its progress', async () => {
    const { id } = await run('reports');
    const lines = await shop.ask(
      'select level, message, fields from holdfast.job_logs where job_id = $1 order by line',
      [id],
    );
    expect(lines).toEqual([
      { level: 'info', message: 'with fields', fields: { list: [1, '2'] } },
      { level: 'warn', message: 'a\\u0000b', fields: null },
    ]);
    const [found] = await shop.ask('select progress from holdfast.all_jobs where id = $1', [id]);
    expect(found).toEqual({ progress: { percent: 100, note: 'at 100' } });
  });

  it('ends by what it returns only, whatever its code posts to the parent of its thread', async () => {
    const { id, ...job } = await run('posts');
    expect(job).toMatchObject({ status: 'completed', result: 'its own result' });
    const lines = await shop.ask('select message from holdfast.job_logs where job_id = $1', [id]);
    expect(lines).toEqual([{ message: 'posted' }]);
    expect(await run('returns_nothing')).toMatchObject({ status: 'completed' });
  });

  it('goes on when its code closes the port of its thread', async () => {
    expect(await run('closes_port')).toMatchObject({ status: 'completed', result: 3 });
    expect(await run('calls')).toMatchObject({ result: { sum: 3 } });
  });

  it('keeps no more of its log than any other handler', async () => {
    const { id } = await run('floods');
    const [found] = await shop.ask<{ readonly count: number }>(
      'select count(*)::integer as count from holdfast.job_logs where job_id = $1',
      [id],
    );
    expect(found?.count).toBe(1_000);
  });

  it('can release its job', async () => {
    expect(await run('releases')).toMatchObject({ result: 'released before', attempt: 1 });
  });

  it('keeps its steps', async () => {
    const job = await run('steps');
    const result = job.result as { readonly first: { readonly at: string } };
    expect(job).toMatchObject({ status: 'completed', attempt: 2 });
    expect(result.first.at).toBe('1970-01-01T00:00:00.000Z');
    const steps = await shop.ask(
      'select name from holdfast.job_steps where job_id = $1 order by position',
      [job.id],
    );
    expect(steps).toEqual([{ name: 'first' }, { name: 'second' }]);
  });

  it('calls the functions that its entry names', async () => {
    expect(await run('calls')).toMatchObject({
      result: { sum: 3, refused: expect.stringContaining('"unknown"') as unknown, failed: 'NO' },
    });
  });

  it('keeps its lease while it is busy for three leases', async () => {
    const job = await run('busy', { payloadJson: JSON.stringify({ forMs: leaseMs * 3 }) });
    expect(job).toMatchObject({ status: 'completed', result: 'done', executionSeq: 1 });
    expect(await shop.executions(job.id)).toEqual([{ status: 'completed', seq: 1 }]);
  });
});

describe('a failure in a thread', () => {
  it.each([
    ['throws_coded', 'attempts_exhausted', 'ENOSPC', 'no disk'],
    ['throws_final', 'non_retryable', 'handler_failed', 'never again'],
    ['throws_nothing', 'attempts_exhausted', 'handler_failed', 'Thrown: undefined'],
    ['throws_in_timer', 'attempts_exhausted', 'uncaught_exception', 'in a timer'],
    ['rejects_unhandled', 'attempts_exhausted', 'uncaught_exception', 'nobody listens'],
    ['exits', 'attempts_exhausted', 'handler_exited', 'The handler called process.exit(3)'],
    ['missing', 'attempts_exhausted', 'handler_missing', /no handler for "missing"/],
    ['lost', 'attempts_exhausted', 'ERR_MODULE_NOT_FOUND', /nowhere/],
    ['transacts', 'attempts_exhausted', 'not_in_thread', /context\.transaction/],
    ['eats_memory', 'attempts_exhausted', 'thread_out_of_memory', /memory limit/],
    ['calls_too_deep', 'attempts_exhausted', 'thread_message_unreadable', /cannot be read/],
  ])('%s fails its attempt only', async (type, reason, code, message) => {
    const job = await run(type, { maxAttempts: reason === 'non_retryable' ? 5 : 1 });
    expect(job).toMatchObject({ status: 'dead_letter', reason, attempt: 1 });
    expect(job.lastError?.code).toBe(code);
    expect(job.lastError?.message).toMatch(message);
    expect(await run('returns_nothing')).toMatchObject({ status: 'completed' });
  });
});

// Newer versions of Node read it by themselves.
describe.skipIf(Boolean(Reflect.get(process.features, 'typescript')))(
  'TypeScript in a thread without tsx',
  () => {
    it.each([
      ['unread', 'as the module'],
      ['imports_unread', 'imported by the module'],
    ])('%s fails with what to do about it, in one sentence', async (type) => {
      const job = await run(type, { maxAttempts: 1 });
      expect(job).toMatchObject({ status: 'dead_letter', reason: 'attempts_exhausted' });
      expect(job.lastError?.code).toBe('typescript_unreadable');
      expect(job.lastError?.message).toMatch(
        /Unknown file extension "\.ts" for .*typed-handlers\.ts.*Install tsx.*compiled JavaScript.*22\.18/,
      );
      expect(await run('returns_nothing')).toMatchObject({ status: 'completed' });
    });
  },
);

describe('an abort', () => {
  it('reaches the handler with its reason', async () => {
    expect(await run('until_aborted', { timeoutMs: 50 })).toMatchObject({
      status: 'completed',
      result: { code: 'timed_out', name: 'HoldfastError' },
    });
  });

  it('ends a thread that does not react to its timeout', async () => {
    const job = await run('spin', { timeoutMs: 50, maxAttempts: 1 });
    expect(job).toMatchObject({ status: 'dead_letter', lastError: { code: 'timed_out' } });
    expect((await shop.executions(job.id)).map(({ status }) => status)).toEqual(['timed_out']);
  });

  it('ends a thread that does not react to a cancel', async () => {
    const id = await shop.enqueue('spin');
    await waitFor('the handler runs', async () => (await shop.job(id))?.status === 'running');
    await shop.cancel(id);
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'cancelled', reason: 'cancelled' });
  });
});
