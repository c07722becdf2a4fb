import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { waitFor } from '@holdfast/testing';
import { defineJob, Holdfast, NonRetryableError } from 'holdfast';
import { traceEnqueue } from 'holdfast/opentelemetry';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { baggageOf, inSpan, withBaggage } from './support/recorded-spans.ts';
import { greet, useTracedApplication } from './support/traced-application.ts';

const traced = useTracedApplication();

describe('a job that is enqueued in a span', () => {
  it('has a span of its own for the enqueue and for the run, which are linked', async () => {
    const id = await traced.app.whileWorking([greet], async () => {
      const enqueued = await inSpan('request', () =>
        traced.app.holdfast.enqueue(greet, { to: 'Ada' }),
      );
      await traced.app.holdfast.wait(enqueued.id);
      return enqueued.id;
    });

    const request = traced.app.spans.only('request');
    const send = traced.app.spans.only('send default');
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

    const run = traced.app.spans.only('process default');
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
    expect(traced.app.spans.only('in the handler').parentSpanContext?.spanId).toBe(
      run.spanContext().spanId,
    );
  });

  it('runs in one trace with it, if that is wanted', async () => {
    await traced.app.whileWorking(
      [greet],
      async () => {
        const { id } = await inSpan('request', () =>
          traced.app.holdfast.enqueue(greet, { to: 'Ada' }),
        );
        await traced.app.holdfast.wait(id);
      },
      { relation: 'parent' },
    );
    const run = traced.app.spans.only('process default');
    expect(run.parentSpanContext?.spanId).toBe(
      traced.app.spans.only('send default').spanContext().spanId,
    );
    expect(run.links).toEqual([]);
    expect(new Set(traced.app.spans.all.map((span) => span.spanContext().traceId)).size).toBe(1);
  });

  it('has the baggage, and only the metadata that is its own', async () => {
    const results = await traced.app.whileWorking([greet], () =>
      withBaggage({ tenant: 'ümläut=1,2' }, async () => {
        const plain = await traced.app.holdfast.enqueue(greet, { to: 'Ada' });
        const more = await traced.app.holdfast.enqueue(
          greet,
          { to: 'Ada' },
          { metadata: { by: 'Bob' } },
        );
        return Promise.all(
          [plain, more].map(async ({ id }) => (await traced.app.holdfast.wait(id)).result),
        );
      }),
    );
    expect(results).toEqual([
      { tenant: 'ümläut=1,2', metadata: {} },
      { tenant: 'ümläut=1,2', metadata: { by: 'Bob' } },
    ]);
  });

  it('names its spans after the type, if that is wanted', async () => {
    const other = new Holdfast({ connectionString: traced.db.url });
    other.use(traceEnqueue({ spanNames: 'type' }));
    await other.enqueue('named', {});
    await other.close();
    expect(traced.app.spans.all.map(({ name }) => name)).toEqual(['send named']);
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
    await traced.app.whileWorking([flaky], async () => {
      const { id } = await traced.app.holdfast.enqueue(flaky, {});
      expect(await traced.app.holdfast.wait(id)).toMatchObject({ status: 'completed' });
    });
    const [released, failed, completed, ...others] = traced.app.spans.named('process default');
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
    const sender = traced.app.spans.only('send default').spanContext().spanId;
    for (const span of traced.app.spans.named('process default')) {
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
    await traced.app.whileWorking([dying], async () => {
      const { id } = await traced.app.holdfast.enqueue(dying, {});
      expect(await traced.app.holdfast.wait(id)).toMatchObject({ status: 'dead_letter' });
      await traced.app.holdfast.replay(id);
      expect(await traced.app.holdfast.wait(id)).toMatchObject({ status: 'completed' });
    });
    const sender = traced.app.spans.only('send default').spanContext().spanId;
    expect(
      traced.app.spans
        .named('process default')
        .map(({ links }) => links.map((link) => link.context.spanId)),
    ).toEqual([[sender], [sender]]);
  });

  it('that times out has failed by that, and one that a person cancels has not', async () => {
    const waiting = defineJob({
      type: 'waiting',
      maxAttempts: 1,
      run: async (_: object, { job, signal }) => {
        if (job.tags.includes('cancel')) await traced.app.holdfast.cancel(job.id);
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('gave up'));
          });
        });
      },
    });
    await traced.app.whileWorking([waiting], async () => {
      const timedOut = await traced.app.holdfast.enqueue(waiting, {}, { timeout: '20ms' });
      await traced.app.holdfast.wait(timedOut.id);
      const cancelled = await traced.app.holdfast.enqueue(waiting, {}, { tags: ['cancel'] });
      await traced.app.holdfast.wait(cancelled.id, { timeout: '30s' });
    });
    expect(
      traced.app.spans
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
    const client = new pg.Client({ connectionString: traced.db.url });
    await client.connect();
    await traced.app
      .whileWorking([greet], async () => {
        const enqueueAnd = (end: 'commit' | 'rollback') =>
          withBaggage({ tenant: end }, async () => {
            await client.query('begin');
            const { id } = await traced.app.holdfast.enqueue(greet, { to: 'Ada' }, { tx: client });
            await client.query(end);
            return id;
          });
        const rolledBack = await enqueueAnd('rollback');
        const { result } = await traced.app.holdfast.wait(await enqueueAnd('commit'));
        expect(result).toMatchObject({ tenant: 'commit' });
        await expect(traced.app.holdfast.get(rolledBack)).rejects.toMatchObject({
          code: 'job_not_found',
        });
      })
      .finally(() => client.end());
    expect(traced.app.spans.named('process default')).toHaveLength(1);
  });
});

describe('many jobs of one call', () => {
  const member = defineJob({ type: 'member', run: () => baggageOf('tenant') });
  const other = defineJob({ type: 'other', queue: 'others', run: () => baggageOf('tenant') });

  async function runAll(enqueue: () => Promise<readonly string[]>) {
    const results = await traced.app.whileWorking([member, other], () =>
      withBaggage({ tenant: 't1' }, async () => {
        const ids = await enqueue();
        return Promise.all(ids.map(async (id) => (await traced.app.holdfast.wait(id)).result));
      }),
    );
    const sends = traced.app.spans.all.filter(({ kind }) => kind === SpanKind.PRODUCER);
    const runs = traced.app.spans.all.filter(({ kind }) => kind === SpanKind.CONSUMER);
    return { results, sends, runs };
  }

  it('share one span, which says how many they are', async () => {
    const { results, sends, runs } = await runAll(
      async () => (await traced.app.holdfast.enqueueMany(member, [{}, {}, {}])).ids,
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
      const batch = traced.app.holdfast
        .batch([member.with({}), other.with({})])
        .then(member.with({}));
      const { id, jobIds } = await batch.enqueue();
      await traced.app.holdfast.batches.wait(id, { timeout: '30s' });
      await waitFor('the callback has run', () => {
        const isDone =
          traced.app.spans.all.filter(({ kind }) => kind === SpanKind.CONSUMER).length === 3;
        return Promise.resolve(isDone);
      });
      return jobIds;
    });
    expect(results).toEqual(['t1', 't1']);
    expect(sends.map(({ name, attributes }) => [name, attributes])).toEqual([
      ['send', expect.objectContaining({ 'messaging.batch.message_count': 3 })],
    ]);
    const sender = sends[0]?.spanContext().spanId;
    expect(runs.map(({ links }) => links[0]?.context.spanId)).toEqual([sender, sender, sender]);
    expect(runs.every(({ attributes }) => 'holdfast.batch.id' in attributes)).toBe(true);
  });

  it('do so in a chain, also those that wait', async () => {
    const { results, sends, runs } = await runAll(async () => {
      const chain = traced.app.holdfast.chain([member.with({}), other.with({}), member.with({})]);
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
    const first = await traced.app.holdfast.enqueue('late', {}, { unique, delay: '1d' });
    await traced.app.holdfast.enqueue('late', {}, { unique });
    await expect(
      traced.app.holdfast.enqueue('late', {}, { unique: { ...unique, onConflict: 'reject' } }),
    ).rejects.toThrow();
    const [, second, third] = traced.app.spans.all;
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

describe('an enqueue whose payload another job takes', () => {
  it('gives it its context as well', async () => {
    const unique = { key: 'greeting', onConflict: 'replace' } as const;
    const enqueueAs = (tenant: string, delay: string | undefined) =>
      withBaggage({ tenant }, () =>
        traced.app.holdfast.enqueue(
          greet,
          { to: tenant },
          { unique, ...(delay === undefined ? {} : { delay }) },
        ),
      );
    const { id } = await enqueueAs('first', '1d');
    await enqueueAs('second', undefined);
    await traced.app.whileWorking([greet], async () => {
      await traced.app.holdfast.runNow(id);
      expect(await traced.app.holdfast.wait(id)).toMatchObject({ result: { tenant: 'second' } });
    });
  });
});

describe('a worker that is started in a span', () => {
  it('runs its jobs outside of it', async () => {
    await inSpan('start', () =>
      traced.app.whileWorking([greet], async () => {
        const { id } = await context.with(trace.deleteSpan(context.active()), () =>
          traced.app.holdfast.enqueue(greet, { to: 'Ada' }),
        );
        await traced.app.holdfast.wait(id);
      }),
    );
    const start = traced.app.spans.only('start').spanContext();
    expect(traced.app.spans.only('process default').parentSpanContext).toBeUndefined();
    expect(traced.app.spans.only('in the handler').spanContext().traceId).not.toBe(start.traceId);
  });
});
