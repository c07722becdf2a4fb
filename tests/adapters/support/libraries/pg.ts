import { pgAdapter } from 'holdfast/pg';
import pg from 'pg';
import type { LibraryCase } from '../library.ts';

/** Clients of `pg`, on which the application says begin and commit itself. */
export const pgCase: LibraryCase = {
  name: 'pg',
  async use(connectionString, work) {
    const pool = new pg.Pool({ connectionString, max: 4 });
    const idle = await pool.connect();
    try {
      return await work({
        adapter: pgAdapter(pool),
        serializable: pgAdapter(pool, { isolationLevel: 'serializable' }),
        async transaction(run) {
          const client = await pool.connect();
          try {
            await client.query('begin');
            const result = await run(client);
            await client.query('commit');
            return result;
          } catch (error) {
            await client.query('rollback');
            throw error;
          } finally {
            client.release();
          }
        },
        async insertInvoice(tx, { id, note }) {
          await tx.query('insert into invoices (id, note) values ($1, $2)', [id, note]);
        },
        async execute(tx, statement) {
          await tx.query(statement);
        },
        mistakes: { 'the pool': pool, 'a client without begin': idle },
      });
    } finally {
      idle.release();
      await pool.end();
    }
  },
};
