import { kyselyAdapter } from 'holdfast/kysely';
import { CamelCasePlugin, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { LibraryCase } from '../library.ts';
import { surviveBrokenConnections } from '../survive-broken-connections.ts';

interface Tables {
  invoices: { id: string; note: string | null };
}

/** Kysely with a plugin that renames the columns of every row. */
export const kyselyCase: LibraryCase = {
  name: 'Kysely',
  async use(connectionString, work) {
    const pool = new pg.Pool({ connectionString, max: 4 });
    surviveBrokenConnections(pool);
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      plugins: [new CamelCasePlugin()],
    });
    try {
      return await work({
        adapter: kyselyAdapter(db),
        serializable: kyselyAdapter(db, { isolationLevel: 'serializable' }),
        transaction: (run) => db.transaction().execute(run),
        async insertInvoice(tx, { id, note }) {
          await tx
            .insertInto('invoices')
            .values({ id, note: note ?? null })
            .execute();
        },
        async execute(tx, statement) {
          await sql.raw(statement).execute(tx);
        },
        mistakes: { 'the root db': db },
      });
    } finally {
      await db.destroy();
    }
  },
};
