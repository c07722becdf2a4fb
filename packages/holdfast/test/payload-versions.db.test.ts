import { listPayloadContracts } from '@holdfast/database';
import { createJobFactory, waitFor } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openHoldfast } from './support/open-holdfast.ts';
import { query, readRows } from './support/stored-rows.ts';
import type { Holdfast, HoldfastLogger, JobContext, JobDefinition, Worker } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

/** One type, as two releases of an application define it. Each notes what its handler was given. */
function releases() {
  const type = `invoice.${randomUUID()}`;
  const seen: unknown[] = [];
  const note = (release: string) => (payload: unknown) => {
    seen.push([release, payload]);
    return release;
  };
  const before = defineJob({
    ...{ type, version: 2, run: note('before') },
    payload: z.object({ to: z.string() }),
    upgrades: { 1: (old) => ({ to: String(old) }) },
  });
  const after = defineJob({
    ...{ type, version: 3, run: note('after') },
    payload: z.object({ to: z.array(z.string().min(1)) }),
    upgrades: {
      1: (old) => ({ to: String(old) }),
      2: ({ to }: { to: string }) => ({ to: [to] }),
    },
  });
  return { type, before, after, seen };
}

async function start(job: JobDefinition, logger?: HoldfastLogger): Promise<Worker> {
  const worker = createWorker({ holdfast, jobs: [job], maintenance: false, logger });
  await worker.start();
  return worker;
}

describe('two releases at once', () => {
  it('share the old jobs, and only the new one takes new ones', async () => {
    const { type, before, after, seen } = releases();
    await using older = await start(before);
    const { id: waiting } = await holdfast.enqueue(after, { to: ['Ada'] });
    const { id: first } = await holdfast.enqueue(type, 'Bob', { payloadVersion: 1 });
    expect(await holdfast.wait(first, { timeout: '15s' })).toMatchObject({ result: 'before' });
    const { id: second } = await holdfast.enqueue(before, { to: 'Cy' });
    expect(await holdfast.wait(second, { timeout: '15s' })).toMatchObject({ result: 'before' });
    // It was in line before both.
    expect(await holdfast.get(waiting)).toMatchObject({ status: 'queued', payloadVersion: 3 });
    await using newer = await start(after);
    expect(await holdfast.wait(waiting, { timeout: '15s' })).toMatchObject({ result: 'after' });
    expect(seen).toEqual([
      ['before', { to: 'Bob' }],
      ['before', { to: 'Cy' }],
      ['after', { to: ['Ada'] }],
    ]);
    const rows = await query(test.server.url, 'select types from holdfast.workers', []);
    const shown = rows.flatMap((row) => row['types'] as readonly string[]);
    expect(shown.filter((name) => name.startsWith(type)).sort()).toEqual(
      [type, type, `${type}@2`, `${type}@2`, `${type}@3`].sort(),
    );
    await older.stop();
    await newer.stop();
  });

  it('never give the old one a new job, with a crowd of both', async () => {
    const { type, before, after, seen } = releases();
    const payloads = Array.from({ length: 60 }, (_, index) => index);
    await holdfast.enqueueMany(
      after,
      payloads.map((index) => ({ to: [String(index)] })),
    );
    await holdfast.enqueueMany(
      before,
      payloads.map((index) => ({ to: String(index) })),
    );
    await holdfast.enqueueMany(type, payloads);
    await using first = await start(before);
    await using second = await start(after);
    await using third = await start(before);
    await waitFor('all have run', async () => {
      const left = await holdfast.list({ type, status: ['queued', 'claimed', 'running'] });
      return left.jobs.length === 0;
    });
    const given = new Map<string, string[]>();
    for (const [release, payload] of seen as readonly (readonly [string, { to: unknown }])[]) {
      const shape = Array.isArray(payload.to) ? 'new' : 'old';
      given.set(`${release} ${shape}`, [...(given.get(`${release} ${shape}`) ?? []), type]);
    }
    expect(given.has('before new')).toBe(false);
    expect(given.has('after old')).toBe(false);
    expect(seen).toHaveLength(180);
    for (const worker of [first, second, third]) await worker.stop();
  });
});

describe('a payload of an older version', () => {
  it('reaches the handler upgraded, and stays stored as it was', async () => {
    const { type, after, seen } = releases();
    const { id } = await holdfast.enqueue(type, 'Ada');
    await using worker = await start(after);
    expect(await holdfast.wait(id, { timeout: '15s' })).toMatchObject({
      ...{ status: 'completed', payload: 'Ada', payloadVersion: 1 },
    });
    expect(seen).toEqual([['after', { to: ['Ada'] }]]);
    await worker.stop();
  });

  it.each([
    ['its upgrade throws', null, 2, /its upgrade from version 2 failed: /],
    ['the schema refuses what its upgrade made', { to: '' }, 2, /\/to\/0: /],
  ])('makes a dead letter at once when %s', async (_, payload, payloadVersion, message) => {
    const { type, after, seen } = releases();
    const { id } = await holdfast.enqueue(type, payload, { payloadVersion });
    await using worker = await start(after);
    const job = await holdfast.wait(id, { timeout: '15s' });
    expect(job).toMatchObject({ status: 'dead_letter', attempt: 1, reason: 'non_retryable' });
    expect(job.lastError?.code).toBe('payload_invalid');
    expect(job.lastError?.message).toMatch(message);
    expect(seen).toEqual([]);
    await worker.stop();
  });

  it('that nobody upgrades waits for a worker that does', async () => {
    const type = `late.${randomUUID()}`;
    const newest = defineJob({ type, version: 2, run: () => 'done' });
    const { id: old } = await holdfast.enqueue(type, {});
    const { id } = await holdfast.enqueue(newest, {});
    await using worker = await start(newest);
    await holdfast.wait(id, { timeout: '15s' });
    expect(await holdfast.get(old)).toMatchObject({ status: 'queued', payloadVersion: 1 });
    await worker.stop();
  });

  it('is told to the handler by its context', async () => {
    const type = `told.${randomUUID()}`;
    const job = defineJob({
      ...{ type, version: 2, upgrades: { 1: (old) => old } },
      run: (_: unknown, ctx: JobContext) => ctx.job.payloadVersion,
    });
    const { id } = await holdfast.enqueue(type, {});
    await using worker = await start(job);
    expect(await holdfast.wait(id, { timeout: '15s' })).toMatchObject({ result: 1 });
    await worker.stop();
  });
});

describe('the version of a definition', () => {
  it('arrives by every way to enqueue', async () => {
    const version = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 32_767 }));
    const way = fc.constantFrom(...Object.entries(ways));
    await fc.assert(
      fc.asyncProperty(way, version, async ([, make], given) => {
        const job = defineJob({ type: `any.${randomUUID()}`, version: given });
        const ids = await make(job);
        expect(ids).not.toHaveLength(0);
        for (const row of await readRows(test.server.url, ids)) {
          expect(row['payload_version']).toBe(given === 1 ? null : given);
          const [summary] = (await holdfast.list({ type: job.type })).jobs;
          expect(summary?.payloadVersion).toBe(given);
        }
      }),
      { numRuns: 30, examples: Object.entries(ways).map((each) => [each, 7]) },
    );
  });

  /** Each makes jobs of the definition. */
  const ways: Readonly<Record<string, (job: JobDefinition) => Promise<readonly string[]>>> = {
    enqueue: async (job) => [(await holdfast.enqueue(job, {})).id],
    later: async (job) => [(await holdfast.enqueue(job, {}, { delay: '1h' })).id],
    byType: async ({ type, version: payloadVersion }) => [
      (await holdfast.enqueue(type, {}, { payloadVersion })).id,
    ],
    enqueueMany: async (job) => (await holdfast.enqueueMany(job, [1, 2])).ids,
    unique: async (job) => [
      (await holdfast.enqueue(job, {}, { unique: { key: randomUUID() } })).id,
    ],
    async replaced(job) {
      const unique = { key: randomUUID(), onConflict: 'replace' } as const;
      const { id } = await holdfast.enqueue(job.type, {}, { unique, payloadVersion: 9 });
      await holdfast.enqueue(job, {}, { unique });
      return [id];
    },
    chain: async (job) => (await holdfast.chain([job.with({}), job.with({})]).enqueue()).jobIds,
    batch: async (job) => (await holdfast.batch([job.with({})]).enqueue()).jobIds,
    async graph(job) {
      const graph = holdfast.graph((g) => {
        const first = g.add(job.with({}));
        g.add(job.with({}), { after: [first] });
      });
      return (await graph.enqueue()).jobIds;
    },
    async added(job) {
      const { id } = await holdfast.batch([defineJob({ type: 'never.run' }).with({})]).enqueue();
      await holdfast.batches.add(id, [job.with({})]);
      return membersOf(id, job);
    },
    async callback(job) {
      const member = defineJob({ type: `member.${randomUUID()}`, run: () => undefined });
      const { id } = await holdfast
        .batch([member.with({})])
        .then(job.with({}))
        .enqueue();
      await using worker = await start(member);
      const ids = await waitFor('the callback is made', async () => {
        const found = await membersOf(id, job);
        return found.length > 0 && found;
      });
      await worker.stop();
      return ids;
    },
    async schedule(job) {
      const { name } = await holdfast.schedules.upsert({
        ...{ name: `v-${randomUUID()}`, cron: '0 0 1 1 *', job: job.with({}) },
      });
      const shown = await holdfast.schedules.get(name);
      expect(shown.job.payloadVersion).toBe(job.version);
      return [(await holdfast.schedules.runNow(name)).jobId];
    },
    async subscription(job) {
      const event = `shop.${randomUUID()}`;
      const { job: shown } = await holdfast.subscribe(event, job);
      expect(shown?.payloadVersion).toBe(job.version);
      return (await holdfast.emit(event, {})).jobIds;
    },
    async subscriptionByType({ type, version: payloadVersion }) {
      const event = `shop.${randomUUID()}`;
      await holdfast.subscribe(event, type, { payloadVersion });
      return (await holdfast.emit(event, {})).jobIds;
    },
    enqueuedByHandler: async (job) => [
      await inHandler(async (ctx) => (await ctx.enqueue(job, {})).id),
    ],
    async emittedByHandler(job) {
      const event = `shop.${randomUUID()}`;
      await holdfast.subscribe(event, job);
      return [await inHandler(async (ctx) => (await ctx.emit(event, {})).jobIds[0] ?? '')];
    },
    async replayed(job) {
      const factory = await createJobFactory(test.server.database);
      const { type, version: payloadVersion } = job;
      const { id } = await factory.deadLetter({ type, payloadVersion });
      await holdfast.replay(id);
      return [id];
    },
  };

  async function membersOf(batchId: string, { type }: JobDefinition): Promise<readonly string[]> {
    const { jobs } = await holdfast.list({ batchId, type });
    return jobs.map(({ id }) => id);
  }

  /** Runs a handler, and gives what it gave. */
  async function inHandler(run: (ctx: JobContext) => Promise<string>): Promise<string> {
    const job = defineJob({
      type: `outer.${randomUUID()}`,
      run: (_: unknown, ctx: JobContext) => run(ctx),
    });
    await using worker = await start(job);
    const { id } = await holdfast.enqueue(job, {});
    const { result, lastError } = await holdfast.wait(id, { timeout: '15s' });
    expect(lastError).toBeUndefined();
    await worker.stop();
    return String(result);
  }
});

describe('the registry of payload contracts', () => {
  const projectOf = async () => (await createJobFactory(test.server.database)).projectId;

  async function registered(type: string) {
    const contracts = await listPayloadContracts(test.server.database, await projectOf());
    return contracts.filter((contract) => contract.type === type);
  }

  /** Starts and stops a worker, and gives what it warned of. */
  async function warningsOf(job: JobDefinition): Promise<readonly unknown[]> {
    const warnings: unknown[] = [];
    const ignore = () => undefined;
    const warn = (fields: object, message: string) => void warnings.push([fields, message]);
    const worker = await start(job, { debug: ignore, info: ignore, warn, error: ignore });
    await worker.stop();
    return warnings;
  }

  it('has what the schema says of each version that a worker has had', async () => {
    const { type, before, after } = releases();
    expect(await warningsOf(before)).toEqual([]);
    expect(await warningsOf(after)).toEqual([]);
    expect(await registered(type)).toMatchObject([
      { version: 2, jsonSchema: { type: 'object', properties: { to: { type: 'string' } } } },
      { version: 3, jsonSchema: { properties: { to: { type: 'array' } } } },
    ]);
  });

  it.each([
    ['has no schema', (type: string) => defineJob({ type, run: () => 1 })],
    [
      'has a schema that no JSON Schema can say',
      (type: string) => defineJob({ type, payload: z.object({ at: z.date() }), run: () => 1 }),
    ],
  ])('has a type that %s without one', async (_, define) => {
    const type = `bare.${randomUUID()}`;
    const job = define(type);
    expect(await warningsOf(job)).toEqual([]);
    expect(await registered(type)).toMatchObject([{ version: 1, jsonSchema: undefined }]);
  });

  it('warns once of a schema that has changed under its version', async () => {
    const type = `changed.${randomUUID()}`;
    const define = (payload: ReturnType<typeof z.object>) =>
      defineJob({ type, payload, run: () => 1 });
    expect(await warningsOf(define(z.object({ a: z.string(), b: z.number() })))).toEqual([]);
    // In another order it is the same.
    expect(await warningsOf(define(z.object({ a: z.string(), b: z.number() })))).toEqual([]);
    const changed = define(z.object({ a: z.string() }));
    expect(await warningsOf(changed)).toEqual([
      [{ type, version: 1 }, expect.stringMatching(/has changed under its version/)],
    ]);
    expect(await warningsOf(changed)).toEqual([]);
  });
});
