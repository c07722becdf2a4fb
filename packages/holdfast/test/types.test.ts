import { createWorker, defineJob, Holdfast } from 'holdfast';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type {
  EnqueueResult,
  InputOf,
  JobContext,
  JobDefinition,
  JobHandler,
  JobRequest,
  OutputOf,
  ResultOf,
  StandardSchema,
} from 'holdfast';
import type { FakeContext } from 'holdfast/testing';

const holdfast = new Holdfast({ connectionString: 'postgresql://localhost/nowhere' });

const remind = defineJob({
  type: 'user.remind',
  payload: z.object({ userId: z.string(), at: z.coerce.date(), tone: z.string().default('kind') }),
  run({ userId, at, tone }, ctx) {
    expectTypeOf(userId).toEqualTypeOf<string>();
    expectTypeOf(at).toEqualTypeOf<Date>();
    expectTypeOf(tone).toEqualTypeOf<string>();
    expectTypeOf(ctx).toEqualTypeOf<JobContext>();
    return Promise.resolve({ sent: 1 });
  },
});

const resize = defineJob({
  type: 'image.resize',
  run: ({ width }: { width: number }) => width * 2,
});

const cleanUp = defineJob({ type: 'clean.up', run: () => undefined });
const apart = defineJob<{ to: string }, { messageId: string }>({ type: 'mail.send' });

/** Only compiled: nothing is enqueued. */
function compiled(_check: () => unknown): void {
  expect(_check).toBeTypeOf('function');
}

describe('the types of a definition', () => {
  it('come from its schema: what enqueue takes, what the handler gets, what it gives', () => {
    type In = InputOf<typeof remind>;
    expectTypeOf<In['userId']>().toEqualTypeOf<string>();
    expectTypeOf<In['tone']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<OutputOf<typeof remind>>().toEqualTypeOf<{
      userId: string;
      at: Date;
      tone: string;
    }>();
    expectTypeOf<ResultOf<typeof remind>>().toEqualTypeOf<{ sent: number }>();
    expectTypeOf(remind.type).toEqualTypeOf<'user.remind'>();
  });

  it('come from its handler when it has no schema', () => {
    expectTypeOf(resize).toEqualTypeOf<
      JobDefinition<'image.resize', { width: number }, { width: number }, number, unknown>
    >();
  });

  it('come from type arguments when it has neither', () => {
    expectTypeOf<InputOf<typeof apart>>().toEqualTypeOf<{ to: string }>();
    expectTypeOf<ResultOf<typeof apart>>().toEqualTypeOf<{ messageId: string }>();
  });

  it('fit into one list, whatever their payloads', () => {
    compiled(() => createWorker({ holdfast, jobs: [remind, resize, cleanUp, apart] }));
  });

  it('are those of any library with Standard Schema', () => {
    const schema: StandardSchema<string, number> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) => ({ value: Number(value) }),
      },
    };
    const job = defineJob({ type: 'count', payload: schema, run: (count) => count + 1 });
    expectTypeOf(job).toEqualTypeOf<JobDefinition<'count', string, number, number, unknown>>();
  });
});

describe('the payload of an enqueue', () => {
  it('is where the compiler points when it is wrong', () => {
    compiled(() => {
      void holdfast.enqueue(
        resize,
        // @ts-expect-error a field has another type
        { width: '3' },
      );
      void holdfast.enqueueMany(
        resize,
        // @ts-expect-error a payload has another type
        [{ width: '1' }],
      );
    });
  });

  it('can be passed on by functions for any job, and for any name', () => {
    compiled(() => (job: JobDefinition<string, { id: string }> | string) => {
      void holdfast.enqueue(job, { id: 'i1' }, { priority: 1 });
    });
  });

  it('is the input of the schema', () => {
    compiled(() => {
      void holdfast.enqueue(remind, { userId: 'u1', at: new Date() });
      void holdfast.enqueue(remind, { userId: 'u1', at: '2026-01-01', tone: 'stern' });
      // @ts-expect-error a field is missing
      void holdfast.enqueue(remind, { at: new Date() });
      // @ts-expect-error a field has another type
      void holdfast.enqueue(resize, { width: '3' });
      // @ts-expect-error the payload is missing
      void holdfast.enqueue(resize);
      // @ts-expect-error there is no such option
      void holdfast.enqueue(resize, { width: 3 }, { dealy: '3s' });
      const enqueued = holdfast.enqueue(resize, { width: 3 });
      expectTypeOf(enqueued).toEqualTypeOf<Promise<EnqueueResult<number>>>();
    });
  });

  it('may be left out when the handler takes none', () => {
    compiled(() => {
      void holdfast.enqueue(cleanUp);
      void holdfast.enqueue(cleanUp, undefined, { delay: '5m' });
    });
  });

  it('may be left out when all of it may', () => {
    const gentle = defineJob({ type: 'gentle', run: (_options: { dry?: boolean }) => 1 });
    const text = defineJob({ type: 'text', run: (_text: string) => 1 });
    const list = defineJob({ type: 'list', run: (_items: string[]) => 1 });
    compiled(() => {
      void holdfast.enqueue(gentle);
      // @ts-expect-error the payload is missing
      void holdfast.enqueue(text);
      // @ts-expect-error the payload is missing
      void holdfast.enqueue(list);
    });
  });

  it('is anything when the job is named by its type', () => {
    compiled(() => void holdfast.enqueue('mail.send', { to: 'ada@example.com' }, { priority: 0 }));
  });

  it('is each of a list, an iterator or a stream', () => {
    compiled(() => {
      void holdfast.enqueueMany(resize, [{ width: 1 }], { tags: ['bulk'] });
      void holdfast.enqueueMany(resize, new Set([{ width: 1 }]), {
        each: ({ width }) => ({ priority: width }),
      });
      // @ts-expect-error a payload has another type
      void holdfast.enqueueMany(resize, [{ width: '1' }]);
      // @ts-expect-error one id cannot be that of many
      void holdfast.enqueueMany(resize, [{ width: 1 }], { id: 'x' });
    });
  });

  it('is kept by a request', () => {
    expectTypeOf(resize.with({ width: 1 }, { priority: 1 })).toEqualTypeOf<
      JobRequest<{ width: number }, number>
    >();
    compiled(() => {
      // @ts-expect-error another type
      resize.with({ width: 'x' });
    });
  });
});

describe('the result of a job', () => {
  it('comes back with the job by the id, as JSON', () => {
    const dated = defineJob({ type: 'dated', run: () => ({ at: new Date(), big: 1n }) });
    compiled(async () => {
      const { id } = await holdfast.enqueue(dated);
      const job = await holdfast.wait(id, { timeout: '1m' });
      expectTypeOf(job.result).toEqualTypeOf<
        { readonly at: string; readonly big: string } | undefined
      >();
      const { ids } = await holdfast.enqueueMany(resize, [{ width: 3 }]);
      for (const each of ids) {
        expectTypeOf((await holdfast.get(each)).result).toEqualTypeOf<number | undefined>();
      }
      // An id is a text, and a text is an id of which nothing is known.
      const text: string = id;
      expectTypeOf((await holdfast.get(text)).result).toEqualTypeOf<unknown>();
      expectTypeOf((await holdfast.get('0190b6e4')).result).toEqualTypeOf<unknown>();
      const named = await holdfast.enqueue('image.resize', { width: 3 });
      expectTypeOf((await holdfast.wait(named.id)).result).toEqualTypeOf<unknown>();
    });
  });

  it('comes back without the release that the handler may give instead', () => {
    const polite = defineJob({
      type: 'polite',
      run: (_: undefined, ctx: JobContext) => (ctx.attempt > 1 ? 7 : ctx.release('1m', 'later')),
    });
    compiled(async () => {
      const { id } = await holdfast.enqueue(polite);
      expectTypeOf((await holdfast.wait(id)).result).toEqualTypeOf<number | undefined>();
    });
  });
});

describe('the handler of a worker', () => {
  it('has the payload and the result of its definition', () => {
    compiled(() => {
      createWorker({ holdfast }).handle(apart, ({ to }, ctx) => {
        expectTypeOf(to).toEqualTypeOf<string>();
        expectTypeOf(ctx).toEqualTypeOf<JobContext>();
        return { messageId: 'm1' };
      });
      // @ts-expect-error the result has another type
      createWorker({ holdfast }).handle(apart, () => 3);
    });
  });

  it('is where the compiler points when its result is wrong', () => {
    compiled(() => {
      createWorker({ holdfast }).handle(
        apart,
        () =>
          // @ts-expect-error the result has another type
          3,
      );
      createWorker({ holdfast }).handle(apart, () => ({
        // @ts-expect-error a field has another type
        messageId: 3,
      }));
    });
  });

  it('may release the job, which is no result', () => {
    const patient = defineJob({
      type: 'patient',
      run: ({ busy }: { busy: boolean }, ctx) => (busy ? ctx.release('1s') : { ok: true }),
    });
    const sometime = defineJob({
      type: 'sometime',
      payload: z.object({ busy: z.boolean() }),
      run: async ({ busy }, ctx) => (busy ? ctx.release('1s') : Promise.resolve({ ok: true })),
    });
    const never = defineJob({ type: 'never', run: (_payload: undefined, ctx) => ctx.release(1) });
    expectTypeOf<ResultOf<typeof patient>>().toEqualTypeOf<{ ok: boolean }>();
    expectTypeOf<ResultOf<typeof sometime>>().toEqualTypeOf<{ ok: boolean }>();
    expectTypeOf<ResultOf<typeof never>>().toEqualTypeOf<never>();
    compiled(() => {
      createWorker({ holdfast, jobs: [patient, sometime, never] }).handle(apart, ({ to }, ctx) =>
        to === '' ? ctx.release('1s') : { messageId: 'm1' },
      );
    });
  });

  it('is not mistaken for one that releases when its result looks like a release', () => {
    const slow = defineJob({ type: 'slow', run: () => ({ delayMs: 5, reason: 'slow' }) });
    expect(slow.type).toBe('slow');
    expectTypeOf<ResultOf<typeof slow>>().toEqualTypeOf<{ delayMs: number; reason: string }>();
  });

  it('is given by a step what JSON makes of it', () => {
    type Step = Promise<{ readonly when: string; readonly big: string }>;
    const check = (ctx: JobContext, fake: FakeContext, engine: Parameters<JobHandler>[1]) => {
      const run = () => Promise.resolve({ when: new Date(), big: 1n });
      expectTypeOf(ctx.step('x', run)).toEqualTypeOf<Step>();
      expectTypeOf(fake.step('x', run)).toEqualTypeOf<Step>();
      expectTypeOf(engine.step('x', run)).toEqualTypeOf<Step>();
      expectTypeOf(ctx.step('x', () => 7)).toEqualTypeOf<Promise<number>>();
      expectTypeOf(ctx.step('x', () => undefined)).toEqualTypeOf<Promise<undefined>>();
    };
    expectTypeOf(check).returns.toBeVoid();
  });

  it('finds the fields of the metadata, if there is any', () => {
    type Metadata = JobContext['job']['metadata'];
    expectTypeOf<Metadata>().toEqualTypeOf<Readonly<Record<string, unknown>> | undefined>();
  });

  it('takes a function for any job, and for any name', () => {
    compiled(() => (job: JobDefinition<string, { id: string }, { id: string }> | string) => {
      createWorker({ holdfast }).handle(job, (payload) => payload);
    });
  });

  it('enqueues jobs with their types', () => {
    compiled(() => {
      createWorker({ holdfast }).handle('any', async (payload, ctx) => {
        expectTypeOf(payload).toEqualTypeOf<unknown>();
        await ctx.enqueue(resize, { width: 1 });
        // @ts-expect-error another type
        await ctx.enqueue(resize, { width: 'x' });
      });
    });
  });
});
