import { eq } from 'drizzle-orm';
import { NonRetryableError } from 'holdfast';
import type { Worker } from 'holdfast';
import { db, letters, orders } from './database.ts';
import type { Transaction } from './database.ts';
import { cancelOrder, chargeOrder, notifyCustomer, shipOrder } from './jobs.ts';
import { charge } from './payments.ts';

/** The chain of an order: charge, ship, notify; and what happens when one of them fails for good. */
export function handleOrders(worker: Worker<Transaction>): void {
  worker
    .handle(chargeOrder, async ({ orderId }, ctx) => {
      const { card } = await readOrder(orderId);
      // A retry after a crash does not come here again once the result is kept.
      const paymentId = await ctx.step('charge', () =>
        charge({ card, idempotencyKey: orderId, signal: ctx.signal }),
      );
      // The order is paid and the job is complete, or neither.
      return ctx.transaction(async (tx) => {
        await tx.update(orders).set({ status: 'paid', paymentId }).where(eq(orders.id, orderId));
        return { paymentId };
      });
    })
    .handle(shipOrder, async ({ orderId }, ctx) => {
      const { paymentId } = await ctx.parents.resultOf(chargeOrder);
      ctx.log.info('shipping', { paymentId });
      return ctx.transaction(async (tx) => {
        await tx.update(orders).set({ status: 'shipped' }).where(eq(orders.id, orderId));
        return { trackingCode: `parcel-${orderId}` };
      });
    })
    .handle(notifyCustomer, async ({ orderId }, ctx) => {
      const { trackingCode } = await ctx.parents.resultOf(shipOrder);
      return ctx.transaction(async (tx) => {
        await tx
          .insert(letters)
          .values({ orderId, text: `Your order is on its way: ${trackingCode}` });
      });
    })
    .handle(cancelOrder, ({ orderId }, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.update(orders).set({ status: 'cancelled' }).where(eq(orders.id, orderId));
        await tx.insert(letters).values({ orderId, text: 'We had to cancel your order.' });
      }),
    );
}

async function readOrder(id: string) {
  const [order] = await db.select().from(orders).where(eq(orders.id, id));
  if (order === undefined) throw new NonRetryableError(`There is no order ${id}`);
  return order;
}
