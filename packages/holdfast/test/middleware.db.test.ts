import { defineJob } from 'holdfast';
import type { EnqueueMiddleware, Holdfast } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { countJobs } from './support/stored-rows.ts';

const job = defineJob<{ n: number }>({ type: 'any' });
const later = (n: number) => job.with({ n }, { delay: '1h' });

const drop: readonly (readonly [string, EnqueueMiddleware])[] = [
  ['answers nothing by itself', () => Promise.resolve([])],
  ['answers undefined', () => Promise.resolve(undefined as never)],
  ['gives next fewer jobs', (jobs, next) => next(jobs.slice(1))],
  ['gives next nothing', (_jobs, next) => (next as () => ReturnType<typeof next>)()],
  [
    'takes the ids away',
    (jobs, next) => next(jobs.map((each) => ({ ...each, options: {} }) as never)),
  ],
];
const forget: readonly (readonly [string, EnqueueMiddleware])[] = [
  [
    'forgets the results',
    async (jobs, next) => {
      await next(jobs);
      return undefined as never;
    },
  ],
  [
    'forgets to wait',
    (jobs, next) => {
      void next(jobs);
      return undefined as never;
    },
  ],
  ['answers fewer results', async (jobs, next) => (await next(jobs)).slice(1)],
];

/** Every way to enqueue; `open` is a batch that takes members. */
function waysOf(holdfast: Holdfast, open: string): readonly (() => Promise<unknown>)[] {
  return [
    () => holdfast.enqueue(job, { n: 1 }),
    () => holdfast.enqueueMany(job, [{ n: 1 }, { n: 2 }]),
    () => holdfast.batch([later(1), later(2)]).enqueue(),
    () => holdfast.chain([later(1), later(2)]).enqueue(),
    () => holdfast.batches.add(open, [later(1), later(2)]),
  ];
}

async function use(
  middleware: readonly EnqueueMiddleware[],
  run: (holdfast: Holdfast, open: string, count: () => Promise<number>) => Promise<void>,
): Promise<void> {
  const { holdfast, server, close } = await openHoldfast();
  try {
    const { id } = await holdfast.batch([later(0)]).enqueue();
    for (const each of middleware) holdfast.use(each);
    await run(holdfast, id, () => countJobs(server.url));
  } finally {
    await close();
  }
}

const pass: EnqueueMiddleware = (jobs, next) => next(jobs);

describe('an enqueue', () => {
  it.each(drop)(
    'is refused when a middleware %s, and writes nothing',
    async (_name, middleware) => {
      await use([pass, middleware, pass], async (holdfast, open, count) => {
        for (const call of waysOf(holdfast, open)) {
          const error: unknown = await call().catch((caught: unknown) => caught);
          expect(error).toMatchObject({ code: 'middleware_invalid' });
          expect(String(error)).toContain('nothing was written');
        }
        expect(await count()).toBe(1);
      });
    },
  );

  it.each(forget)('tells of written jobs when a middleware %s', async (_name, middleware) => {
    await use([pass, middleware, pass], async (holdfast, open, count) => {
      for (const call of waysOf(holdfast, open)) {
        const before = await count();
        const error: unknown = await call().catch((caught: unknown) => caught);
        expect(error).toMatchObject({ code: 'middleware_invalid' });
        expect(String(error)).toContain('the jobs were written all the same');
        expect(await count()).toBeGreaterThan(before);
      }
    });
  });

  it('is told that nothing was written when a middleware keeps the failure of a write to itself', async () => {
    const silent: EnqueueMiddleware = (jobs, next) => next(jobs).catch(() => undefined as never);
    await use([silent], async (holdfast, open, count) => {
      const tx = { query: () => Promise.reject(new Error('connection gone')) } as never;
      const call = holdfast.enqueue(job, { n: 1 }, { tx });
      await expect(call).rejects.toThrow('nothing was written');
      expect(await count()).toBe(1);
    });
  });

  it('may be answered by a middleware, but for a batch, which would not be there', async () => {
    const known: EnqueueMiddleware = (jobs) =>
      Promise.resolve(
        jobs.map(({ options: { id } }) => ({ id, status: 'queued', deduplicated: true })),
      );
    await use([known], async (holdfast, open, count) => {
      const [enqueue, enqueueMany, ...batches] = waysOf(holdfast, open);
      expect(await enqueue?.()).toMatchObject({ deduplicated: true });
      expect(await enqueueMany?.()).toMatchObject({
        ids: [expect.any(String), expect.any(String)],
      });
      for (const call of batches) {
        await expect(call()).rejects.toMatchObject({ code: 'middleware_invalid' });
      }
      expect(await count()).toBe(1);
    });
  });

  it('is refused when a middleware gives a job of a batch another id', async () => {
    const rename: EnqueueMiddleware = (jobs, next) => {
      const id = '01920000-0000-7000-8000-0000000000aa';
      return next(jobs.map((each, index) => (index > 0 ? each : { ...each, options: { id } })));
    };
    await use([rename], async (holdfast, open, count) => {
      const [enqueue, , ...batches] = waysOf(holdfast, open);
      for (const call of batches) {
        await expect(call()).rejects.toThrow('must keep the jobs of a batch and their ids');
      }
      expect(await count()).toBe(1);
      expect(await enqueue?.()).toMatchObject({ id: '01920000-0000-7000-8000-0000000000aa' });
    });
  });
});
