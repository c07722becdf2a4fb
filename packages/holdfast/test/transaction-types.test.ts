import { createWorker, defineJob, Holdfast } from 'holdfast';
import { traceRun } from 'holdfast/opentelemetry';
import { createTestHoldfast } from 'holdfast/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { ClientBase, PoolClient } from 'pg';
import type { JobContext, PgTransaction, TransactionAdapter, Worker } from 'holdfast';

const holdfast = new Holdfast({ connectionString: 'postgresql://localhost/nowhere' });

const resize = defineJob({
  type: 'image.resize',
  run: ({ width }: { width: number }) => width * 2,
});

const remind = defineJob({
  type: 'user.remind',
  payload: z.object({ userId: z.string() }),
  run({ userId }, ctx) {
    expectTypeOf(ctx).toEqualTypeOf<JobContext>();
    return { sent: userId };
  },
});

const cleanUp = defineJob({ type: 'clean.up', run: () => undefined });
const apart = defineJob<{ to: string }, { messageId: string }>({ type: 'mail.send' });

/** Only compiled: nothing is enqueued. */
function compiled(_check: () => unknown): void {
  expect(_check).toBeTypeOf('function');
}

describe('the transaction', () => {
  it('is a client of pg by default', () => {
    compiled(() => {
      const use = (client: ClientBase, pooled: PoolClient) => {
        void holdfast.enqueue(resize, { width: 1 }, { tx: client });
        void holdfast.enqueue(resize, { width: 1 }, { tx: pooled });
      };
      // @ts-expect-error no transaction of pg
      void holdfast.enqueue(resize, { width: 1 }, { tx: { begin: true } });
      expectTypeOf(use).toBeFunction();
      createWorker({ holdfast }).handle(resize, (_payload, ctx) =>
        ctx.transaction(async (tx) => {
          expectTypeOf(tx).toEqualTypeOf<PgTransaction>();
          const { rows } = await tx.query<{ n: number }>('select $1::integer as n', [1]);
          return rows[0]?.n ?? 0;
        }),
      );
    });
  });

  it('is that of the adapter', () => {
    interface MyTransaction {
      readonly mine: true;
    }
    compiled(() => {
      const make = (adapter: TransactionAdapter<MyTransaction>) => {
        const other = new Holdfast({ connectionString: '', adapter });
        expectTypeOf(other).toEqualTypeOf<Holdfast<MyTransaction>>();
        void other.enqueue(resize, { width: 1 }, { tx: { mine: true } });
        createWorker({ holdfast: other }).handle(resize, (_payload, ctx) =>
          ctx.transaction((tx) => {
            expectTypeOf(tx).toEqualTypeOf<MyTransaction>();
            return Promise.resolve(1);
          }),
        );
      };
      expectTypeOf(make).toBeFunction();
    });
  });

  it('that a handler was written for must be that of its worker', () => {
    interface MyTransaction {
      readonly mine: true;
    }
    compiled(() => {
      const check = (mine: Holdfast<MyTransaction>) => {
        const forMine = (_payload: unknown, _ctx: JobContext<MyTransaction>) => 1;
        const forPg = (_payload: unknown, _ctx: JobContext) => 1;
        createWorker({ holdfast: mine }).handle(resize, forMine);
        createWorker({ holdfast }).handle(resize, forPg);
        // @ts-expect-error the worker has another transaction
        createWorker({ holdfast }).handle(resize, forMine);
        // @ts-expect-error the worker has another transaction
        createWorker({ holdfast: mine }).handle(resize, forPg);
        // @ts-expect-error without Register, definitions are written for a client of pg
        defineJob({ type: 'mine', run: forMine });
      };
      expectTypeOf(check).returns.toBeVoid();
    });
  });

  it('that a definition was written for must be that of its worker', () => {
    interface MyTransaction {
      readonly mine: true;
    }
    const books = defineJob({
      type: 'books',
      run: async ({ sql }: { sql: string }, ctx) => {
        await ctx.transaction((tx) => tx.query(sql));
      },
    });
    const booksWithSchema = defineJob({
      type: 'books.schema',
      payload: z.object({ sql: z.string() }),
      async run({ sql }, { transaction }) {
        await transaction((tx) => tx.query(sql));
      },
    });
    const logs = defineJob({
      type: 'logs',
      run: ({ to }: { to: string }, { log }: Pick<JobContext, 'log'>) => {
        log.info(to);
      },
    });
    const bare = defineJob({ type: 'bare', payload: z.string() });
    compiled(() => {
      const check = (mine: Holdfast<MyTransaction>, pooled: Holdfast<PoolClient>) => {
        createWorker({ holdfast, jobs: [books, booksWithSchema, remind, logs, bare] });
        // eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment -- a handler that takes more will do
        createWorker({ holdfast: pooled, jobs: [books, booksWithSchema] });
        createWorker({ holdfast: mine, jobs: [resize, cleanUp, logs, bare, apart] });
        // @ts-expect-error the worker has another transaction
        createWorker({ holdfast: mine, jobs: [books] });
        // @ts-expect-error the worker has another transaction
        createWorker({ holdfast: mine, jobs: [booksWithSchema] });
        // @ts-expect-error nothing shows that it does not use the transaction
        createWorker({ holdfast: mine, jobs: [remind] });
        // @ts-expect-error nor of a list whose types are gone
        createWorker({ holdfast: mine, jobs: [bare] as readonly JobDefinition[] });
      };
      const checkTests = (mine: TransactionAdapter<MyTransaction>) => {
        void createTestHoldfast({ adapter: mine, jobs: [resize] });
        // @ts-expect-error the tests' worker has another transaction
        void createTestHoldfast({ adapter: mine, jobs: [books] });
      };
      expectTypeOf(check).returns.toBeVoid();
      expectTypeOf(checkTests).returns.toBeVoid();
    });
  });
});

describe('the middleware of traces', () => {
  it('fits workers of every database library', () => {
    type Theirs = Worker<{ readonly ofSomeLibrary: true }>;
    compiled(() => (worker: Theirs) => {
      expectTypeOf(worker.use(traceRun())).toEqualTypeOf<Theirs>();
    });
  });
});
