import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import express from 'express';
import type { ErrorRequestHandler, Express } from 'express';
import { z, ZodError } from 'zod';
import { db, holdfast, imports, letters, orders, products } from './database.ts';
import {
  cancelOrder,
  chargeOrder,
  completeImport,
  importProduct,
  notifyCustomer,
  productLine,
  reportImport,
  shipOrder,
} from './jobs.ts';

const orderForm = z.object({ sku: z.string(), email: z.email(), card: z.string() });
const byId = z.object({ id: z.uuid() });
const importForm = z.array(productLine).min(1).max(10_000);

/** The shop: places orders, takes lists of products, and shows both. */
export function createApp(): Express {
  const app = express();
  app.use(express.json({ limit: '1mb' }));

  app.post('/orders', async (request, response) => {
    const order = { id: randomUUID(), ...orderForm.parse(request.body) };
    // The order and its jobs are there together, or not at all.
    await db.transaction(async (tx) => {
      await tx.insert(orders).values({ ...order, status: 'placed' });
      const payload = { orderId: order.id };
      await holdfast
        .chain([chargeOrder.with(payload), shipOrder.with(payload), notifyCustomer.with(payload)])
        .catch(cancelOrder.with(payload))
        .enqueue({ tx });
    });
    response.status(202).location(`/orders/${order.id}`).json({ id: order.id });
  });

  app.get('/orders/:id', async (request, response) => {
    const id = byId.safeParse(request.params).data?.id;
    const [order] = id === undefined ? [] : await db.select().from(orders).where(eq(orders.id, id));
    if (order === undefined) {
      response.status(404).json({ error: 'There is no such order' });
      return;
    }
    const post = await db.select().from(letters).where(eq(letters.orderId, order.id));
    response.json({ ...order, card: undefined, letters: post.map(({ text }) => text) });
  });

  app.post('/imports', async (request, response) => {
    const lines = importForm.parse(request.body);
    const payload = { importId: randomUUID() };
    const batch = await db.transaction(async (tx) => {
      await tx.insert(imports).values({ id: payload.importId, status: 'running' });
      return holdfast
        .batch(
          lines.map((line) => importProduct.with(line)),
          { name: 'products' },
        )
        .then(completeImport.with(payload))
        .catch(reportImport.with(payload))
        .enqueue({ tx });
    });
    response.status(202).json({ id: payload.importId, batchId: batch.id });
  });

  app.get('/imports/:id', async (request, response) => {
    const id = byId.safeParse(request.params).data?.id;
    const [found] =
      id === undefined ? [] : await db.select().from(imports).where(eq(imports.id, id));
    if (found === undefined) response.status(404).json({ error: 'There is no such import' });
    else response.json(found);
  });

  app.get('/products', async (_request, response) => {
    response.json(await db.select().from(products).orderBy(products.sku));
  });

  app.use(explainMistakes);
  return app;
}

// eslint-disable-next-line @typescript-eslint/max-params -- Express tells error handlers by their four parameters.
const explainMistakes: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (error instanceof ZodError) response.status(422).json({ issues: error.issues });
  else next(error);
};
