import { eq } from 'drizzle-orm';
import { NonRetryableError } from 'holdfast';
import type { Worker } from 'holdfast';
import { imports, products } from './database.ts';
import type { Transaction } from './database.ts';
import { completeImport, importProduct, reportImport } from './jobs.ts';

/** The batch of an import: a job for each line, and one that says how it went. */
export function handleImports(worker: Worker<Transaction>): void {
  worker
    .handle(importProduct, ({ sku, name, priceCents }, ctx) => {
      if (priceCents <= 0) throw new NonRetryableError(`${sku} has no price`);
      return ctx.transaction(async (tx) => {
        await tx
          .insert(products)
          .values({ sku, name, priceCents })
          .onConflictDoUpdate({ target: products.sku, set: { name, priceCents } });
      });
    })
    .handle(completeImport, ({ importId }, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.update(imports).set({ status: 'complete' }).where(eq(imports.id, importId));
      }),
    )
    .handle(reportImport, ({ importId }, ctx) =>
      ctx.transaction(async (tx) => {
        await tx.update(imports).set({ status: 'incomplete' }).where(eq(imports.id, importId));
      }),
    );
}
