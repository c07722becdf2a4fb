import { defineJob, Holdfast } from 'holdfast';
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { PoolClient } from 'pg';
import type { BatchEnqueueResult, BatchInfo, JobContext, JobParents, Stored } from 'holdfast';

const holdfast = new Holdfast({ connectionString: 'postgresql://localhost/nowhere' });

const charge = defineJob({
  type: 'order.charge',
  run: async ({ cents }: { cents: number }, ctx) =>
    cents > 900 ? ctx.release('1m') : Promise.resolve({ cents, at: new Date() }),
});
const ship = defineJob({
  type: 'order.ship',
  async run({ to }: { to: string }, ctx) {
    const charged = await ctx.parents.resultOf(charge);
    expectTypeOf(charged).toEqualTypeOf<{ readonly cents: number; readonly at: string }>();
    return `${to}: ${String(charged.cents)}`;
  },
});

/** Only compiled: nothing is enqueued. */
function compiled(_check: () => void): void {
  expect(_check).toBeTypeOf('function');
}

describe('the types of batches, chains and graphs', () => {
  it('hold the payload of each job to its definition', () => {
    compiled(() => {
      holdfast.chain([charge.with({ cents: 1 }), ship.with({ to: 'Ada' })]);
      // @ts-expect-error a field has another type
      holdfast.batch([charge.with({ cents: '1' })]);
      // @ts-expect-error a definition is no job
      holdfast.batch([charge]);
      // @ts-expect-error a link is a job
      holdfast.chain([holdfast.batch([])]);
      // @ts-expect-error a callback is a job
      holdfast.batch([]).then(() => undefined);
    });
  });

  it('let builders be members, and answer with ids', () => {
    compiled(() => {
      const inner = holdfast.chain([charge.with({ cents: 1 })]).catch(charge.with({ cents: 0 }));
      const outer = holdfast.batch([inner, ship.with({ to: 'Ada' })]);
      expectTypeOf(outer.enqueue()).toEqualTypeOf<Promise<BatchEnqueueResult>>();
      expectTypeOf(holdfast.batches.get('x')).toEqualTypeOf<Promise<BatchInfo>>();
    });
  });

  it('take the transaction of the instance', () => {
    compiled(() => {
      const check = (tx: PoolClient) => {
        void holdfast.batch([]).enqueue({ tx });
        void holdfast.batches.add('x', [], { tx });
      };
      expectTypeOf(check).returns.toBeVoid();
      // @ts-expect-error that is no transaction
      void holdfast.batch([]).enqueue({ tx: 1 });
    });
  });

  it('make what a parent gave what JSON makes of it', () => {
    interface Odd {
      readonly at: Date;
      readonly big: bigint;
      readonly list: readonly [number, Date];
      readonly maybe?: { readonly url: URL };
    }
    interface OddAsJson {
      readonly at: string;
      readonly big: string;
      readonly list: readonly [number, string];
      readonly maybe?: { readonly url: string };
    }
    expectTypeOf<Stored<Odd>>().toEqualTypeOf<OddAsJson>();
    expectTypeOf<Stored<unknown>>().toEqualTypeOf<unknown>();
    expectTypeOf<JobContext['parents']>().toEqualTypeOf<JobParents>();
  });
});
