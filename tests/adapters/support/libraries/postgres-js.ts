import { postgresJsAdapter } from 'holdfast/postgres-js';
import postgres from 'postgres';
import type { LibraryCase } from '../library.ts';

/** postgres.js with names in camel case, since its mapping is applied to everybody's rows. */
export const postgresJsCase: LibraryCase = {
  name: 'postgres.js',
  async use(connectionString, work) {
    const sql = postgres(connectionString, { max: 4, transform: postgres.camel });
    try {
      return await work({
        adapter: postgresJsAdapter(sql),
        serializable: postgresJsAdapter(sql, { isolationLevel: 'serializable' }),
        async transaction<Result>(run: (tx: postgres.TransactionSql) => Promise<Result>) {
          const [result] = await sql.begin(async (tx) => [{ is: await run(tx) }]);
          return result.is;
        },
        async insertInvoice(tx, { id, note }) {
          await tx`insert into invoices ${tx({ id, note: note ?? null })}`;
        },
        async execute(tx, statement) {
          await tx.unsafe(statement);
        },
        mistakes: { 'the root sql': sql },
      });
    } finally {
      await sql.end();
    }
  },
};
