import { typeOrmAdapter } from 'holdfast/typeorm';
import { DataSource, EntitySchema } from 'typeorm';
import type { LibraryCase } from '../library.ts';

// The library's own manual makes it of a literal.
// eslint-disable-next-line @typescript-eslint/no-unsafe-class-instance-assignment
const InvoiceEntity = new EntitySchema<{ id: string; note: string | null }>({
  name: 'Invoice',
  tableName: 'invoices',
  columns: { id: { type: 'text', primary: true }, note: { type: 'text', nullable: true } },
});

/** TypeORM on its driver `postgres`. */
export const typeOrmCase: LibraryCase = {
  name: 'TypeORM',
  async use(connectionString, work) {
    const dataSource = new DataSource({
      type: 'postgres',
      url: connectionString,
      entities: [InvoiceEntity],
      poolSize: 4,
    });
    await dataSource.initialize();
    const runner = dataSource.createQueryRunner();
    try {
      return await work({
        adapter: typeOrmAdapter(dataSource),
        serializable: typeOrmAdapter(dataSource, { isolationLevel: 'serializable' }),
        transaction: (run) => dataSource.transaction(run),
        async insertInvoice(tx, { id, note }) {
          await tx.insert(InvoiceEntity, { id, note: note ?? null });
        },
        async execute(tx, statement) {
          await tx.query(statement);
        },
        mistakes: {
          'the manager of the data source': dataSource.manager,
          'the manager of a query runner without a transaction': runner.manager,
        },
      });
    } finally {
      await runner.release();
      await dataSource.destroy();
    }
  },
};
