import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { integer, pgSchema, text, uuid } from 'drizzle-orm/pg-core';
import { Holdfast } from 'holdfast';
import { drizzleAdapter } from 'holdfast/drizzle';
import { Pool } from 'pg';
import { config } from './config.ts';

/** A schema of the shop's own, beside that of Holdfast. */
const shop = pgSchema('shop');

export const products = shop.table('products', {
  sku: text().primaryKey(),
  name: text().notNull(),
  priceCents: integer('price_cents').notNull(),
});

export const orders = shop.table('orders', {
  id: uuid().primaryKey(),
  email: text().notNull(),
  sku: text().notNull(),
  card: text().notNull(),
  status: text({ enum: ['placed', 'paid', 'shipped', 'cancelled'] }).notNull(),
  paymentId: text('payment_id'),
});

/** The letters that went out; a real shop would hand them to its mail server. */
export const letters = shop.table('letters', {
  orderId: uuid('order_id').notNull(),
  text: text().notNull(),
});

export const imports = shop.table('imports', {
  id: uuid().primaryKey(),
  status: text({ enum: ['running', 'complete', 'incomplete'] }).notNull(),
});

export const pool = new Pool({ connectionString: config.databaseUrl });
// A connection that breaks is replaced; without a listener it would end the process.
pool.on('error', console.error);
pool.on('connect', (client) => client.on('error', console.error));

export const db = drizzle(pool);

/** What `db.transaction` gives. */
export type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0];

/** Takes part in the transactions of Drizzle: `tx` of every call is what `db.transaction` gives. */
export const holdfast = new Holdfast({ pool, adapter: drizzleAdapter(db, sql) });

/** The tables of Holdfast, and the shop's own, for which a real one would have migrations. */
export async function createTables(): Promise<void> {
  await holdfast.migrate();
  await db.transaction(async (tx) => {
    // Web and worker may start at the same moment.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext('shop tables'))`);
    await tx.execute(sql`
      create schema if not exists shop;
      create table if not exists shop.products (
        sku text primary key, name text not null, price_cents integer not null
      );
      create table if not exists shop.orders (
        id uuid primary key, email text not null,
        sku text not null references shop.products deferrable initially deferred,
        card text not null, status text not null, payment_id text
      );
      create table if not exists shop.letters (
        order_id uuid not null references shop.orders, text text not null
      );
      create table if not exists shop.imports (id uuid primary key, status text not null);
    `);
  });
}
