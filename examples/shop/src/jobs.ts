import { defineJob } from 'holdfast';
import { z } from 'zod';

interface OfOrder {
  readonly orderId: string;
}

interface OfImport {
  readonly importId: string;
}

/** One line of the supplier's list. */
export const productLine = z.object({
  sku: z.string().min(1),
  name: z.string().min(1),
  priceCents: z.int(),
});

// Definitions without handlers, so that the web process need not load the worker's code. The second type is what the
// handler gives, for the jobs behind it in a chain.

export const chargeOrder = defineJob<OfOrder, { paymentId: string }>({
  type: 'order.charge',
  queue: 'orders',
  maxAttempts: 8,
  backoff: { kind: 'exponential', base: '1s', max: '10m' },
  timeout: '30s',
});

export const shipOrder = defineJob<OfOrder, { trackingCode: string }>({
  type: 'order.ship',
  queue: 'orders',
});

export const notifyCustomer = defineJob<OfOrder>({ type: 'order.notify', queue: 'mail' });

export const cancelOrder = defineJob<OfOrder>({ type: 'order.cancel', queue: 'orders' });

/** Has a schema: what comes from outside is checked when it is enqueued, and again before it is run. */
export const importProduct = defineJob({
  type: 'product.import',
  queue: 'imports',
  payload: productLine,
});

export const completeImport = defineJob<OfImport>({ type: 'import.complete', queue: 'imports' });

export const reportImport = defineJob<OfImport>({ type: 'import.report', queue: 'imports' });
