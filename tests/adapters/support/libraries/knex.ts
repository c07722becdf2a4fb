import { knexAdapter } from 'holdfast/knex';
import knex from 'knex';
import type { Knex } from 'knex';
import type { LibraryCase } from '../library.ts';

/** Knex with a hook that renames the columns of every row. */
export const knexCase: LibraryCase = {
  name: 'Knex',
  async use(connectionString, work) {
    const db = knex({
      client: 'pg',
      connection: connectionString,
      pool: { min: 0, max: 4 },
      postProcessResponse: renameColumns,
    });
    const over = await overTransaction(db);
    try {
      return await work({
        adapter: knexAdapter(db),
        serializable: knexAdapter(db, { isolationLevel: 'serializable' }),
        transaction: (run) => db.transaction(run),
        async insertInvoice(tx, { id, note }) {
          await tx('invoices').insert({ id, note: note ?? null });
        },
        async execute(tx, statement) {
          await tx.raw(statement);
        },
        mistakes: { 'the root knex': db, 'a transaction that is over': over },
      });
    } finally {
      await db.destroy();
    }
  },
};

async function overTransaction(db: Knex): Promise<Knex.Transaction> {
  const tx = await db.transaction();
  await tx.commit();
  return tx;
}

interface RawResult {
  rows?: Record<string, unknown>[];
}

function renameColumns(result: RawResult): RawResult {
  if (result.rows !== undefined) result.rows = result.rows.map(inCamelCase);
  return result;
}

function inCamelCase(row: Record<string, unknown>): Record<string, unknown> {
  const rename = (name: string): string =>
    name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [rename(name), value]));
}
