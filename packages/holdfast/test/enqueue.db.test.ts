import {
  Holdfast,
  OptionsInvalidError,
  PayloadInvalidError,
  PayloadTooLargeError,
  defineJob,
} from 'holdfast';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openHoldfast } from './support/open-holdfast.ts';
import { countJobs, readRows } from './support/stored-rows.ts';
import type { JobOptions } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';
import type { StoredRow } from './support/stored-rows.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

const invoice = defineJob({
  type: 'invoice.send',
  queue: 'mail',
  payload: z.object({ invoiceId: z.string(), to: z.email(), copies: z.coerce.number().min(1) }),
  maxAttempts: 7,
  timeout: '2m',
  priority: 3,
  tags: ['billing'],
  backoff: { kind: 'exponential', base: '2s', max: '1h' },
});

const valid = { invoiceId: 'i1', to: 'ada@example.com', copies: '2' };

async function rowOf(id: string): Promise<StoredRow> {
  const [row] = await readRows(test.server.url, [id]);
  if (row === undefined) throw new Error('The job is not there');
  return row;
}

async function nothingWritten(call: () => Promise<unknown>): Promise<unknown> {
  const before = await countJobs(test.server.url);
  const error: unknown = await call().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(await countJobs(test.server.url)).toBe(before);
  return error;
}

describe('an enqueue', () => {
  it('stores the payload as it was given, and what the definition says', async () => {
    const result = await holdfast.enqueue(invoice, valid);
    expect(result).toEqual({ id: result.id, status: 'queued', deduplicated: false });
    expect(await rowOf(result.id)).toMatchObject({
      type: 'invoice.send',
      queue_name: 'mail',
      status: 'queued',
      payload: valid,
      max_attempts: 7,
      timeout_ms: 120_000,
      priority: 3,
      tags: ['billing'],
      retry: {
        mode: 'automatic',
        backoff: {
          kind: 'exponential',
          baseMs: 2_000,
          factor: 2,
          maxMs: 3_600_000,
          jitter: 'full',
        },
      },
    });
  });

  it('lets the call say otherwise', async () => {
    const { id, status } = await holdfast.enqueue(invoice, valid, {
      queue: 'urgent',
      delay: '10m',
      priority: 0,
      maxAttempts: 1,
      timeout: 1_500,
      tags: ['one', 'two'],
      metadata: { tenant: 'acme' },
      retry: 'manual',
      startDeadline: '1h',
    });
    expect(status).toBe('scheduled');
    const row = await rowOf(id);
    expect(row).toMatchObject({
      queue_name: 'urgent',
      status: 'scheduled',
      priority: 0,
      max_attempts: 1,
      timeout_ms: 1_500,
      tags: ['one', 'two'],
      metadata: { tenant: 'acme' },
      retry: { mode: 'manual', backoff: { kind: 'exponential', baseMs: 2_000 } },
    });
    // The insert reads its clock twice, and anything may come in between.
    expect(row['delay_ms']).toBeGreaterThan(540_000);
    expect(row['delay_ms']).toBeLessThan(660_000);
    expect(row['start_deadline_at']).toBeInstanceOf(Date);
  });

  it('takes an instant in the past for now', async () => {
    const { id, status } = await holdfast.enqueue('any', {}, { runAt: new Date(0) });
    expect(status).toBe('queued');
    expect(await rowOf(id)).toMatchObject({ status: 'queued' });
  });

  it('needs no definition', async () => {
    const { id } = await holdfast.enqueue('mail.send', { to: 'ada' });
    expect(await rowOf(id)).toMatchObject({
      type: 'mail.send',
      queue_name: 'default',
      payload: { to: 'ada' },
      max_attempts: 5,
      retry: null,
    });
  });

  it('with an id that is there makes no second job and tells of the first', async () => {
    const { id } = await holdfast.enqueue('any', 1, { delay: '1h' });
    const again = await holdfast.enqueue('any', 2, { id });
    expect(again).toEqual({ id, status: 'scheduled', deduplicated: true });
    expect(await rowOf(id)).toMatchObject({ payload: 1 });
  });

  it('of many callers at once gives each its own job', async () => {
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, index) => holdfast.enqueue('many', { index })),
    );
    const rows = await readRows(
      test.server.url,
      results.map(({ id }) => id),
    );
    expect(rows.map(({ payload }) => payload)).toEqual(
      Array.from({ length: 200 }, (_, index) => ({ index })),
    );
  });
});

describe('an enqueue that is refused writes nothing', () => {
  it('and names the path of each issue of the payload', async () => {
    const error = await nothingWritten(() =>
      holdfast.enqueue(invoice, { invoiceId: 'i1', to: 'nobody', copies: 0 }),
    );
    expect(error).toBeInstanceOf(PayloadInvalidError);
    expect(error).toMatchObject({
      code: 'payload_invalid',
      type: 'invoice.send',
      issues: [{ pointer: '/to' }, { pointer: '/copies' }],
    });
    expect(String(error)).toContain('/to: Invalid email');
  });

  it('for a payload that its handler would not understand', async () => {
    const job = defineJob({ type: 'dated', payload: z.object({ at: z.date() }) });
    const error = await nothingWritten(() => holdfast.enqueue(job, { at: new Date() }));
    expect(error).toMatchObject({ code: 'payload_invalid', issues: [{ pointer: '/at' }] });
    expect(String(error)).toContain('a Date is a text: use a schema that makes a Date of it');
  });

  it.each([
    ['a BigInt', { n: 1n }, '/n'],
    ['a function', { f: () => 1 }, '/f'],
    ['NaN', [Number.NaN], '/0'],
    ['NUL', { text: '\0' }, '/text'],
    ['a lone surrogate', { text: '\udc00' }, '/text'],
  ])('for %s in the payload', async (_name, payload, pointer) => {
    const error = await nothingWritten(() => holdfast.enqueue('any', payload));
    expect(error).toMatchObject({ code: 'payload_invalid', issues: [{ pointer }] });
  });

  it('for a payload that is too large', async () => {
    const payload = 'x'.repeat(262_143);
    expect(await nothingWritten(() => holdfast.enqueue('any', payload))).toBeInstanceOf(
      PayloadTooLargeError,
    );
    await using roomy = new Holdfast({
      connectionString: test.server.url,
      maxPayloadBytes: 1_048_576,
    });
    await expect(roomy.enqueue('any', payload)).resolves.toMatchObject({ status: 'queued' });
  });

  it('for a job that is none', async () => {
    for (const job of [undefined, null, 7, {}, { type: 'any' }]) {
      // @ts-expect-error as a caller in plain JavaScript
      const error = await nothingWritten(() => holdfast.enqueue(job, {}));
      expect(error).toMatchObject({ code: 'options_invalid' });
    }
  });

  it.each([
    ['no options', null],
    ['no unique key', { unique: null }],
    ['no retry', { retry: null }],
    ['an end of the retries as text', { retryUntil: '2030-01-01T00:00:00Z' }],
    ['no time for retries', { retryUntil: 0 }],
    ['no exception', { maxExceptions: 0 }],
    ['no backoff', { backoff: null }],
    ['a list of delays without one', { backoff: { kind: 'list' } }],
    ['a factor as text', { backoff: { kind: 'exponential', factor: '2' } }],
    ['no metadata', { metadata: null }],
    ['a date as metadata', { metadata: new Date() }],
    ['a deadline that PostgreSQL does not know', { startDeadline: new Date(8.64e15) }],
    ['an end of the retries before all time', { retryUntil: new Date(-8.64e15) }],
  ])('for %s', async (_, options) => {
    const error = await nothingWritten(() => holdfast.enqueue('any', {}, options as never));
    expect(error).toMatchObject({ code: 'options_invalid' });
  });

  it('for options of one of many that would be lost', async () => {
    for (const own of [Promise.resolve({ delay: '1h' }), { tx: {} }, null]) {
      const each = () => own as never;
      const error = await nothingWritten(() => holdfast.enqueueMany('any', [1], { each }));
      expect(error).toMatchObject({ code: 'options_invalid' });
    }
  });

  it('for unknown and wrong options, and names every one of them', async () => {
    const options = {
      dealy: '5m',
      prioritiy: 1,
      priority: 10,
      timeout: 'soon',
      maxAttempts: 0.5,
      tags: ['a', 'a'],
      metadata: { n: 1n },
      id: 'x',
      queue: 'no spaces',
      retry: 'sometimes',
      backoff: { kind: 'exponential', base: '2d', jitter: 'half' },
      delay: -1,
      runAt: '2026',
    };
    const error = await nothingWritten(() =>
      // @ts-expect-error as a caller in plain JavaScript
      holdfast.enqueue('any', {}, options),
    );
    expect(error).toBeInstanceOf(OptionsInvalidError);
    const text = String(error);
    expect(text).toContain('there is no option "dealy"; did you mean "delay"?');
    for (const part of [
      'prioritiy',
      'priority must be a whole number from 0 to 9, not 10',
      'timeout must be milliseconds or a duration such as "30s"',
      'maxAttempts',
      'tags',
      'metadata/n is a BigInt',
      'id must be a UUID',
      'queue must be',
      'retry must be one of "automatic", "manual"',
      'backoff.base must be between 0 and 86400000 ms',
      'backoff.jitter',
      'delay must be',
      'runAt must be a Date',
      'delay and runAt cannot both be set',
    ]) {
      expect(text).toContain(part);
    }
  });
});

describe('a definition', () => {
  it('is refused with every unknown or wrong option named', () => {
    const define = () =>
      defineJob({
        type: 'no spaces',
        // @ts-expect-error as a caller in plain JavaScript
        retries: 3,
        timeout: 'soon',
        isolate: 'thread',
      });
    expect(define).toThrow(/there is no option "retries".*timeout must be/);
    expect(define).toThrow(/type must be 1 to 128.*needs module/);
  });
});

describe('enqueueMany', () => {
  it('enqueues 100 000 jobs from a generator without holding them', async () => {
    const count = 100_000;
    let aheadMax = 0;
    let taken = 0;
    let written = 0;
    const stop = holdfast.on('JobQueued', () => (written += 1));
    function* payloads() {
      for (; taken < count; taken += 1) {
        aheadMax = Math.max(aheadMax, taken - written);
        yield { index: taken };
      }
    }
    const { ids } = await holdfast.enqueueMany('bulk', payloads(), { tags: ['import'] });
    stop();
    expect(new Set(ids).size).toBe(count);
    expect(aheadMax).toBeLessThanOrEqual(2_001);
    const rows = await readRows(test.server.url, [ids.at(0) ?? '', ids.at(-1) ?? '']);
    expect(rows.map(({ payload, tags }) => ({ payload, tags }))).toEqual([
      { payload: { index: 0 }, tags: ['import'] },
      { payload: { index: count - 1 }, tags: ['import'] },
    ]);
  });

  it('takes streams, and options of each job', async () => {
    // eslint-disable-next-line @typescript-eslint/require-await -- a stream need not wait
    async function* stream() {
      yield { invoiceId: 'a', to: 'a@example.com', copies: 1 };
      yield { invoiceId: 'b', to: 'b@example.com', copies: 2 };
    }
    const { ids } = await holdfast.enqueueMany(invoice, stream(), {
      delay: '1h',
      each: ({ copies }, index) => ({
        priority: Number(copies),
        ...(index === 1 ? { runAt: new Date(0) } : {}),
      }),
    });
    expect(await readRows(test.server.url, ids)).toMatchObject([
      { status: 'scheduled', priority: 1 },
      { status: 'queued', priority: 2 },
    ]);
  });

  it('tells which jobs are there when it ends in the middle', async () => {
    const payloads = [...Array.from({ length: 5 }, () => 1), 1n];
    const call = holdfast.enqueueMany('broken', payloads, { sliceSize: 2 });
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'enqueue_incomplete', cause: { code: 'payload_invalid' } });
    const ids = (error as { ids: readonly string[] }).ids;
    expect(ids).toHaveLength(4);
    expect(await readRows(test.server.url, ids)).toHaveLength(4);
  });

  it('of nothing does nothing', async () => {
    expect(await holdfast.enqueueMany('none', [])).toEqual({ ids: [] });
  });
});

describe('single and bulk enqueue', () => {
  const options = fc.record(
    {
      queue: fc.constantFrom('default', 'mail'),
      delay: fc.constantFrom(0, '90s', 60_000),
      priority: fc.integer({ min: 0, max: 9 }),
      tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
      metadata: fc.dictionary(fc.constantFrom('x', 'y'), fc.jsonValue({ maxDepth: 1 })),
      maxAttempts: fc.integer({ min: 1, max: 100 }),
      timeout: fc.constantFrom('1s', '5m', 86_400_000),
      backoff: fc.constantFrom('3s', ['1s', '2s'], { kind: 'fixed', delay: 10 } as const),
      retry: fc.constantFrom('manual' as const, 'automatic' as const),
      retryUntil: fc.constantFrom('1h', new Date('2030-01-01')),
      maxExceptions: fc.integer({ min: 1, max: 100 }),
      startDeadline: fc.constantFrom('1h', new Date('2030-01-01')),
    },
    { requiredKeys: [] },
  );
  const changing = ['id', 'seq', 'run_at', 'created_at', 'start_deadline_at', 'delay_ms'];

  function comparable(row: StoredRow): StoredRow {
    const entries = Object.entries(row).filter(([name]) => !changing.includes(name));
    return Object.fromEntries(entries);
  }

  it('make the same rows of the same options', async () => {
    await fc.assert(
      fc.asyncProperty(
        options as fc.Arbitrary<JobOptions>,
        fc.constantFrom(invoice, 'by.name'),
        async (each, job) => {
          const single = await holdfast.enqueue(job as typeof invoice, valid, each);
          const bulk = await holdfast.enqueueMany(job as typeof invoice, [valid, valid], each);
          const rows = await readRows(test.server.url, [single.id, ...bulk.ids]);
          const [first, ...others] = rows.map(comparable);
          expect(others).toEqual([first, first]);
          const delays = rows.map(({ delay_ms: delayMs }) => Math.round(Number(delayMs) / 1_000));
          expect(new Set(delays).size).toBe(1);
          const deadlines = rows.map(({ start_deadline_at: at }) => at instanceof Date);
          expect(new Set(deadlines).size).toBe(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('make jobs for the same instant', async () => {
    const runAt = new Date('2031-02-03T04:05:06.789Z');
    const { id } = await holdfast.enqueue(invoice, valid, { runAt });
    const { ids } = await holdfast.enqueueMany(invoice, [valid, valid], { runAt });
    const same = Array(3).fill({ status: 'scheduled', run_at: runAt });
    expect(await readRows(test.server.url, [id, ...ids])).toMatchObject(same);
  });
});
