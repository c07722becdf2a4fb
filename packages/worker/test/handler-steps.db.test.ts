import { defaultRetention, prune, replayJob } from '@holdfast/database';
import { waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openWorkshop } from './support/workshop.ts';
import type { JobContext } from '../src/handler.ts';
import type { StoredJob, Workshop } from './support/workshop.ts';

let shop: Workshop;
let type: string;
let typeCount = 0;

beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(async () => {
  await shop.close();
});
beforeEach(() => {
  typeCount += 1;
  type = `test.${String(typeCount)}`;
});

type Handler = (context: JobContext) => unknown;

/** Runs one job with this handler to its end. */
async function run(handler: Handler, more: object = {}): Promise<StoredJob & { id: string }> {
  const engine = await shop.start({
    handlers: { [type]: (_payload, context) => handler(context) },
  });
  const id = await shop.enqueue(type, more);
  const job = await shop.untilEnded(id);
  await engine.stop();
  return { id, ...job };
}

function stepsOf(id: string) {
  return shop.ask(
    'select generation, position, name, result from holdfast.job_steps where job_id = $1 order by 1, 2',
    [id],
  );
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}

describe('a step', () => {
  it('is not run again by a retry, which is given what it gave', async () => {
    const ran: string[] = [];
    const job = await run(async (context) => {
      const a = await context.step('a', () => {
        ran.push(`a ${String(context.attempt)}`);
        return { at: new Date(0), n: 1n };
      });
      const b = await context.step<unknown>('b', () => {
        ran.push(`b ${String(context.attempt)}`);
        if (context.attempt === 1) throw new Error('not yet');
        return undefined;
      });
      return { a, b: b ?? 'nothing' };
    });
    expect(job).toMatchObject({
      status: 'completed',
      attempt: 2,
      result: { a: { at: '1970-01-01T00:00:00.000Z', n: '1' }, b: 'nothing' },
    });
    expect(ran).toEqual(['a 1', 'b 1', 'b 2']);
    expect(await stepsOf(job.id)).toEqual([
      { generation: 0, position: 1, name: 'a', result: { at: '1970-01-01T00:00:00.000Z', n: '1' } },
      { generation: 0, position: 2, name: 'b', result: null },
    ]);
  });

  it('is not run again after its worker has lost the job', async () => {
    const ran: number[] = [];
    const job = await run(async (context) => {
      const { executionSeq } = context.job;
      const first = await context.step('once', () => {
        ran.push(executionSeq);
        return executionSeq;
      });
      if (executionSeq === 1) await shop.takeLease(context.job.id);
      return first;
    });
    expect(job).toMatchObject({ status: 'completed', executionSeq: 2, attempt: 1, result: 1 });
    expect(ran).toEqual([1]);
  });

  it('gives the same through JSON at once as it gives later', async () => {
    const given: unknown[] = [];
    await run(async (context) => {
      given.push(await context.step('map', () => ({ map: new Map([[1, 2]]), none: undefined })));
      if (context.attempt === 1) throw new Error('once more');
    });
    expect(given).toEqual([{ map: {} }, { map: {} }]);
  });

  it('whose result cannot be kept has run all the same, and says so to the next execution', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    let count = 0;
    const job = await run(async (context) => {
      const given = await context.step('circular', () => {
        count += 1;
        return circular;
      });
      expect(given).toBe(circular);
      throw new Error('once more');
    });
    expect(count).toBe(1);
    expect(job).toMatchObject({
      status: 'dead_letter',
      reason: 'non_retryable',
      attempt: 2,
      lastError: { code: 'step_result_lost' },
    });
    const lines = await shop.ask(
      'select level, message, fields from holdfast.job_logs where job_id = $1',
      [job.id],
    );
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'The result of a step could not be kept',
        fields: { step: 'circular', problem: 'result_unserialisable' },
      },
    ]);
  });

  it('has a name of its own, and may run again in the same execution only after it failed', async () => {
    const job = await run(async (context) => {
      const codes: unknown[] = [];
      const nothing = () => undefined;
      await context.step('x', nothing);
      await context.step('x', nothing).catch((error: unknown) => codes.push(codeOf(error)));
      await context.step('', nothing).catch((error: unknown) => codes.push(codeOf(error)));
      await context
        .step('n'.repeat(201), nothing)
        .catch((error: unknown) => codes.push(codeOf(error)));
      await context.step('a\u0000', nothing).catch((error: unknown) => codes.push(codeOf(error)));
      await context.step('y', () => Promise.reject(new Error('no'))).catch(nothing);
      codes.push(await context.step('y', () => 'second'));
      return codes;
    });
    expect(job.result).toEqual([
      'step_repeated',
      'step_invalid',
      'step_invalid',
      'step_invalid',
      'second',
    ]);
  });

  it('may run beside others', async () => {
    const job = await run(({ step }) =>
      Promise.all([1, 2, 3].map((n) => step(`step ${String(n)}`, () => n))),
    );
    expect(job.result).toEqual([1, 2, 3]);
    expect(await stepsOf(job.id)).toHaveLength(3);
  });

  it('keeps nothing when the lease is gone, and is not begun after an abort', async () => {
    const codes: unknown[] = [];
    const job = await run(async (context) => {
      if (context.job.executionSeq > 1) return;
      const note = (error: unknown) => codes.push(codeOf(error));
      await context.step('late', () => shop.takeLease(context.job.id)).catch(note);
      await context.step('never', () => codes.push('ran')).catch(note);
    });
    expect(job).toMatchObject({ status: 'completed', executionSeq: 2 });
    await waitFor('the first execution has failed', () => codes.length === 2);
    expect(codes).toEqual(['lease_lost', 'lease_lost']);
    expect(await stepsOf(job.id)).toEqual([]);
  });

  it('runs again in a replay, which begins without steps', async () => {
    const ran: number[] = [];
    const handler: Handler = async (context) => {
      await context.step('a', () => ran.push(context.job.executionSeq));
      if (ran.length === 1) throw new Error('no');
    };
    const { id } = await run(handler, { maxAttempts: 1 });
    await replayJob(shop.database, { projectId: shop.projectId, id });
    const engine = await shop.start({
      handlers: { [type]: (_payload, context) => handler(context) },
    });
    expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed' });
    await engine.stop();
    expect(ran).toEqual([1, 2]);
    expect(await stepsOf(id)).toMatchObject([{ generation: 0 }, { generation: 1 }]);
  });

  it('is forgotten with its job, not before', async () => {
    const job = await run((context) => context.step('a', () => 1));
    await shop.ask(
      `update holdfast.job_steps set recorded_at = recorded_at - interval '8 days' where job_id = $1`,
      [job.id],
    );
    await prune(shop.database, defaultRetention);
    expect(await stepsOf(job.id)).toHaveLength(1);
    await shop.ask('delete from holdfast.job_history where id = $1', [job.id]);
    await prune(shop.database, defaultRetention);
    expect(await stepsOf(job.id)).toEqual([]);
  });
});
