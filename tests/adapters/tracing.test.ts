import { join } from 'node:path';
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { createTestDatabase, spawnProcess } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { createWorker, defineJob, Holdfast, NonRetryableError } from 'holdfast';
import type { JobDefinition, Worker } from 'holdfast';
import { traceEnqueue, traceRun } from 'holdfast/opentelemetry';
import type { TraceRunOptions } from 'holdfast/opentelemetry';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { baggageOf, inSpan, RecordedSpans, withBaggage } from './support/recorded-spans.ts';

let db: TestDatabase;
let holdfast: Holdfast;
let spans: RecordedSpans;

beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(() => {
  spans = new RecordedSpans();
  holdfast = new Holdfast({ connectionString: db.url });
  holdfast.use(traceEnqueue());
});
afterEach(async () => {
  await holdfast.close();
  await spans.stop();
});
afterAll(async () => {
  await db.drop();
});

/** Has a traced worker while the work goes on. */
async function whileWorking<Result>(
  jobs: readonly JobDefinition[],
  work: () => Promise<Result>,
  options?: TraceRunOptions,
): Promise<Result> {
  const worker = createWorker({ holdfast, jobs, concurrency: 1 }).use(traceRun(options));
  await worker.start();
  try {
    return await work();
  } finally {
    await worker.stop();
  }
}

const greet = defineJob({
  type: 'greet',
  run: (_: { to: string }, { job }) =>
    inSpan('in the handler', () =>
      Promise.resolve({ tenant: baggageOf('tenant') ?? '', metadata: job.metadata ?? 'nothing' }),
    ),
});

describe('a job that is enqueued in a span', () => {
  it('has a span of its own for the enqueue and for the run, which are linked', async () => {
    const id = await whileWorking([greet], async () => {
      const enqueued = await inSpan('request', () => holdfast.enqueue(greet, { to: 'Ada' }));
      await holdfast.wait(enqueued.id);
      return enqueued.id;
    });

    const request = spans.only('request');
    const send = spans.only('send default');
    expect(send.kind).toBe(SpanKind.PRODUCER);
    expect(send.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
    const shared = {
      'messaging.system.name': 'holdfast',
      'messaging.system': 'holdfast',
      'messaging.destination.name': 'default',
      'messaging.message.id': id,
      'holdfast.job.type': 'greet',
    };
    expect(send.attributes).toEqual({
      ...shared,
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
    });

    const run = spans.only('process default');
    expect(run.kind).toBe(SpanKind.CONSUMER);
    expect(run.parentSpanContext).toBeUndefined();
    expect(run.links.map((link) => link.context.spanId)).toEqual([send.spanContext().spanId]);
    expect(run.spanContext().traceId).not.toBe(send.spanContext().traceId);
    expect(run.attributes).toEqual({
      ...shared,
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'holdfast.job.attempt': 1,
      'holdfast.job.max_attempts': 5,
      'holdfast.job.execution_seq': 1,
      'holdfast.execution.outcome': 'completed',
    });
    expect(spans.only('in the handler').parentSpanContext?.spanId).toBe(run.spanContext().spanId);
  });

  it('runs in one trace with it, if that is wanted', async () => {
    await whileWorking(
      [greet],
      async () => {
        const { id } = await inSpan('request', () => holdfast.enqueue(greet, { to: 'Ada' }));
        await holdfast.wait(id);
      },
      { relation: 'parent' },
    );
    const run = spans.only('process default');
    expect(run.parentSpanContext?.spanId).toBe(spans.only('send default').spanContext().spanId);
    expect(run.links).toEqual([]);
    expect(new Set(spans.all.map((span) => span.spanContext().traceId)).size).toBe(1);
  });

  it('has the baggage, and only the metadata that is its own', async () => {
    const results = await whileWorking([greet], () =>
      withBaggage({ tenant: 'ümläut=1,2' }, async () => {
        const plain = await holdfast.enqueue(greet, { to: 'Ada' });
        const more = await holdfast.enqueue(greet, { to: 'Ada' }, { metadata: { by: 'Bob' } });
        return Promise.all([plain, more].map(async ({ id }) => (await holdfast.wait(id)).result));
      }),
    );
    expect(results).toEqual([
      { tenant: 'ümläut=1,2', metadata: {} },
      { tenant: 'ümläut=1,2', metadata: { by: 'Bob' } },
    ]);
  });

  it('names its spans after the type, if that is wanted', async () => {
    const other = new Holdfast({ connectionString: db.url });
    other.use(traceEnqueue({ spanNames: 'type' }));
    await other.enqueue('named', {});
    await other.close();
    expect(spans.all.map(({ name }) => name)).toEqual(['send named']);
  });
});

describe('every attempt', () => {
  const flaky = defineJob({
    type: 'flaky',
    backoff: 0,
    run: (_: object, { attempt, release, job }) => {
      if (attempt === 1 && job.executionSeq === 1) return release(0, 'not yet');
      if (attempt === 1) throw Object.assign(new Error('no luck'), { code: 'E_LUCK' });
      return attempt;
    },
  });

  it('has a span, where a thrown error is one and a release is none', async () => {
    await whileWorking([flaky], async () => {
      const { id } = await holdfast.enqueue(flaky, {});
      expect(await holdfast.wait(id)).toMatchObject({ status: 'completed' });
    });
    const [released, failed, completed, ...others] = spans.named('process default');
    expect(others).toEqual([]);
    expect(released).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      events: [],
      attributes: { 'holdfast.execution.outcome': 'released', 'holdfast.job.attempt': 1 },
    });
    expect(failed).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'no luck' },
      events: [{ name: 'exception', attributes: { 'exception.message': 'no luck' } }],
      attributes: {
        'error.type': 'E_LUCK',
        'holdfast.execution.outcome': 'failed',
        'holdfast.job.attempt': 1,
        'holdfast.job.execution_seq': 2,
      },
    });
    expect(completed).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'holdfast.job.attempt': 2, 'holdfast.job.execution_seq': 3 },
    });
    const sender = spans.only('send default').spanContext().spanId;
    for (const span of spans.named('process default')) {
      expect(span.links.map((link) => link.context.spanId)).toEqual([sender]);
    }
  });

  it('after a replay is linked to the enqueue as before', async () => {
    const dying = defineJob({
      type: 'dying',
      run: (_: object, { job }) => {
        if (job.executionSeq === 1) throw new NonRetryableError('no use');
      },
    });
    await whileWorking([dying], async () => {
      const { id } = await holdfast.enqueue(dying, {});
      expect(await holdfast.wait(id)).toMatchObject({ status: 'dead_letter' });
      await holdfast.replay(id);
      expect(await holdfast.wait(id)).toMatchObject({ status: 'completed' });
    });
    const sender = spans.only('send default').spanContext().spanId;
    expect(
      spans.named('process default').map(({ links }) => links.map((link) => link.context.spanId)),
    ).toEqual([[sender], [sender]]);
  });

  it('that times out has failed by that, and one that a person cancels has not', async () => {
    const waiting = defineJob({
      type: 'waiting',
      maxAttempts: 1,
      run: async (_: object, { job, signal }) => {
        if (job.tags.includes('cancel')) await holdfast.cancel(job.id);
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('gave up'));
          });
        });
      },
    });
    await whileWorking([waiting], async () => {
      const timedOut = await holdfast.enqueue(waiting, {}, { timeout: '20ms' });
      await holdfast.wait(timedOut.id);
      const cancelled = await holdfast.enqueue(waiting, {}, { tags: ['cancel'] });
      await holdfast.wait(cancelled.id, { timeout: '30s' });
    });
    expect(
      spans
        .named('process default')
        .map(({ status, attributes }) => [
          ...[status.code, attributes['error.type']],
          attributes['holdfast.execution.outcome'],
        ]),
    ).toEqual([
      [SpanStatusCode.ERROR, 'timed_out', 'timed_out'],
      [SpanStatusCode.UNSET, undefined, 'cancelled'],
    ]);
  });
});

describe('an enqueue in a transaction', () => {
  it('brings its context along with the commit, and nothing with a rollback', async () => {
    const client = new pg.Client({ connectionString: db.url });
    await client.connect();
    await whileWorking([greet], async () => {
      const enqueueAnd = (end: 'commit' | 'rollback') =>
        withBaggage({ tenant: end }, async () => {
          await client.query('begin');
          const { id } = await holdfast.enqueue(greet, { to: 'Ada' }, { tx: client });
          await client.query(end);
          return id;
        });
      const rolledBack = await enqueueAnd('rollback');
      const { result } = await holdfast.wait(await enqueueAnd('commit'));
      expect(result).toMatchObject({ tenant: 'commit' });
      await expect(holdfast.get(rolledBack)).rejects.toMatchObject({ code: 'job_not_found' });
    }).finally(() => client.end());
    expect(spans.named('process default')).toHaveLength(1);
  });
});

describe('many jobs of one call', () => {
  const member = defineJob({ type: 'member', run: () => baggageOf('tenant') });
  const other = defineJob({ type: 'other', queue: 'others', run: () => baggageOf('tenant') });

  async function runAll(enqueue: () => Promise<readonly string[]>) {
    const results = await whileWorking([member, other], () =>
      withBaggage({ tenant: 't1' }, async () => {
        const ids = await enqueue();
        return Promise.all(ids.map(async (id) => (await holdfast.wait(id)).result));
      }),
    );
    const sends = spans.all.filter(({ kind }) => kind === SpanKind.PRODUCER);
    const runs = spans.all.filter(({ kind }) => kind === SpanKind.CONSUMER);
    return { results, sends, runs };
  }

  it('share one span, which says how many they are', async () => {
    const { results, sends, runs } = await runAll(
      async () => (await holdfast.enqueueMany(member, [{}, {}, {}])).ids,
    );
    expect(results).toEqual(['t1', 't1', 't1']);
    expect(sends).toHaveLength(1);
    expect(sends[0]?.attributes).toMatchObject({ 'messaging.batch.message_count': 3 });
    expect(sends[0]?.attributes).not.toHaveProperty('messaging.message.id');
    expect(runs.flatMap(({ links }) => links.map((link) => link.context.spanId))).toEqual(
      runs.map(() => sends[0]?.spanContext().spanId),
    );
    expect(runs).toHaveLength(3);
  });

  it('do so in a batch with its callback, whatever queues they go to', async () => {
    const { results, sends, runs } = await runAll(async () => {
      const batch = holdfast.batch([member.with({}), other.with({})]).then(member.with({}));
      const { id, jobIds } = await batch.enqueue();
      await holdfast.batches.wait(id, { timeout: '30s' });
      return jobIds;
    });
    expect(results).toEqual(['t1', 't1']);
    expect(sends.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['send', expect.objectContaining({ 'messaging.batch.message_count': 3 })],
    ]);
    const sender = sends[0]?.spanContext().spanId;
    const linked = runs.filter(({ links }) => links[0]?.context.spanId === sender);
    expect(linked.length).toBeGreaterThanOrEqual(2);
    expect(runs.every(({ attributes }) => 'holdfast.batch.id' in attributes)).toBe(true);
  });

  it('do so in a chain, also those that wait', async () => {
    const { results, sends, runs } = await runAll(async () => {
      const chain = holdfast.chain([member.with({}), other.with({}), member.with({})]);
      return (await chain.enqueue()).jobIds;
    });
    expect(results).toEqual(['t1', 't1', 't1']);
    expect(sends).toHaveLength(1);
    expect(runs.map(({ links }) => links.length)).toEqual([1, 1, 1]);
  });
});

describe('an enqueue that makes no job', () => {
  it('says so on its span', async () => {
    const unique = { key: 'one' };
    const first = await holdfast.enqueue('late', {}, { unique, delay: '1d' });
    await holdfast.enqueue('late', {}, { unique });
    await expect(
      holdfast.enqueue('late', {}, { unique: { ...unique, onConflict: 'reject' } }),
    ).rejects.toThrow();
    const [, second, third] = spans.all;
    expect(second?.attributes).toMatchObject({
      'messaging.message.id': first.id,
      'holdfast.job.deduplicated': true,
    });
    expect(third).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'unique_key_held' },
    });
  });
});

describe('the context in the metadata', () => {
  const stored = async (id: string) => (await holdfast.get(id)).metadata;
  const traceparent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/;

  it('leaves out as much as the limit of the metadata has no room for', async () => {
    const filled = (bytes: number) => ({ metadata: { text: 'x'.repeat(bytes) } });
    const [all, some, none] = await withBaggage({ tenant: 'y'.repeat(500) }, async () => [
      await holdfast.enqueue('late', {}, { ...filled(7_000), delay: '1d' }),
      await holdfast.enqueue('late', {}, { ...filled(8_000), delay: '1d' }),
      await holdfast.enqueue('late', {}, { ...filled(8_180), delay: '1d' }),
    ]);
    expect((await stored(all.id))['holdfast.trace']).toEqual({
      traceparent: expect.stringMatching(traceparent) as string,
      baggage: `tenant=${'y'.repeat(500)}`,
    });
    expect(await stored(some.id)).toEqual({
      ...filled(8_000).metadata,
      'holdfast.trace': { traceparent: expect.stringMatching(traceparent) as string },
    });
    expect(await stored(none.id)).toEqual(filled(8_180).metadata);
  });

  it('may be missing, foreign or nonsense', async () => {
    const traces = [undefined, 5, 'x', [], { traceparent: 5, baggage: {} }, { traceparent: 'x' }];
    const known = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const untraced = new Holdfast({ connectionString: db.url });
    await whileWorking([greet], async () => {
      for (const each of [...traces, known]) {
        const metadata = { 'holdfast.trace': each };
        const { id } = await untraced.enqueue(greet, { to: 'Ada' }, { metadata });
        expect(await untraced.wait(id)).toMatchObject({ result: { tenant: '' } });
      }
    }).finally(() => untraced.close());
    expect(
      spans.named('process default').map(({ links }) => links.map((link) => link.context.spanId)),
    ).toEqual([...traces.map(() => []), ['cd'.repeat(8)]]);
  });

  it('is not there without an SDK, and all else is as ever', async () => {
    await spans.stop();
    await whileWorking([greet], async () => {
      const { id } = await holdfast.enqueue(greet, { to: 'Ada' });
      expect(await stored(id)).toEqual({});
      expect(await holdfast.wait(id)).toMatchObject({
        status: 'completed',
        result: { metadata: 'nothing' },
      });
    });
    expect(spans.all).toEqual([]);
  });
});

describe('a worker that is started in a span', () => {
  it('runs its jobs outside of it', async () => {
    await inSpan('start', () =>
      whileWorking([greet], async () => {
        const { id } = await context.with(trace.deleteSpan(context.active()), () =>
          holdfast.enqueue(greet, { to: 'Ada' }),
        );
        await holdfast.wait(id);
      }),
    );
    const start = spans.only('start').spanContext();
    expect(spans.only('process default').parentSpanContext).toBeUndefined();
    expect(spans.only('in the handler').spanContext().traceId).not.toBe(start.traceId);
  });
});

describe('a handler in a thread', () => {
  it('has a span around it, in which it enqueues, whoever used the thread before', async () => {
    // A process of its own: threads run what is built, and the tests' own process runs the sources.
    const script = join(import.meta.dirname, 'fixtures', 'traced-threads.mjs');
    const program = spawnProcess({ script, env: { DATABASE_URL: db.url } });
    const { code } = await program.exited;
    expect(code, program.output()).toBe(0);
    const [line = ''] = /^\{.*\}$/m.exec(program.output()) ?? [];
    const { runs, parents } = JSON.parse(line) as Record<'runs' | 'parents', string[]>;
    expect(parents).toEqual(runs);
    expect(new Set(runs).size).toBe(3);
  });
});

describe('the middleware', () => {
  it('fits workers of every database library', () => {
    const fit = (worker: Worker<{ readonly ofSomeLibrary: true }>) => worker.use(traceRun());
    expect(fit).toBeTypeOf('function');
  });

  it('refuses options that do not exist', () => {
    expect(() => traceRun({ relation: 'child' as 'link' })).toThrow(/relation must be one of/);
    expect(() => traceEnqueue({ spanName: 'queue' } as object)).toThrow(/spanNames/);
  });
});
