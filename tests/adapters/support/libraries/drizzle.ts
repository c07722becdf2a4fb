import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { drizzleAdapter } from 'holdfast/drizzle';
import pg from 'pg';
import postgres from 'postgres';
import type { LibraryCase } from '../library.ts';
import { surviveBrokenConnections } from '../survive-broken-connections.ts';

const invoices = pgTable('invoices', { id: text().primaryKey(), note: text() });

/** Drizzle on the driver `pg`. */
export const drizzleCase: LibraryCase = {
  name: 'Drizzle on pg',
  async use(connectionString, work) {
    const pool = new pg.Pool({ connectionString, max: 4 });
    surviveBrokenConnections(pool);
    const db = drizzle(pool, { schema: { invoices } });
    try {
      return await work({
        adapter: drizzleAdapter(db, sql),
        serializable: drizzleAdapter(db, sql, { isolationLevel: 'serializable' }),
        transaction: (run) => db.transaction(run),
        async insertInvoice(tx, { id, note }) {
          await tx.insert(invoices).values({ id, note });
        },
        async execute(tx, statement) {
          await tx.execute(statement);
        },
        mistakes: { 'the root db': db, 'the pool': pool },
      });
    } finally {
      await pool.end();
    }
  },
};

/** Drizzle on postgres.js, whose conversions Drizzle turns off. */
export const drizzleOnPostgresJsCase: LibraryCase = {
  name: 'Drizzle on postgres.js',
  async use(connectionString, work) {
    const client = postgres(connectionString, { max: 4 });
    const db = drizzleOnPostgresJs(client);
    try {
      return await work({
        adapter: drizzleAdapter(db, sql),
        serializable: drizzleAdapter(db, sql, { isolationLevel: 'serializable' }),
        transaction: (run) => db.transaction(run),
        async insertInvoice(tx, { id, note }) {
          await tx.insert(invoices).values({ id, note });
        },
        async execute(tx, statement) {
          await tx.execute(statement);
        },
        mistakes: { 'the root db': db, 'the client': client },
      });
    } finally {
      await client.end();
    }
  },
};
