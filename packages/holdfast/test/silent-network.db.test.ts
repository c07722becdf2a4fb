import { openClientTransactions } from '@holdfast/database';
import { createTestDatabase } from '@holdfast/testing';
import { createWorker, defineJob, Holdfast } from 'holdfast';
import { expect, it } from 'vitest';
import { startCuttingProxy } from './support/cutting-proxy.ts';

const double = defineJob({ type: 'double', run: (n: number) => 2 * n });

it('goes on by new connections when those that were open say nothing any more', async () => {
  const server = await createTestDatabase();
  const proxy = await startCuttingProxy(server.url);
  const holdfast = new Holdfast({ connectionString: proxy.url });
  const worker = createWorker({ holdfast, jobs: [double] });
  const transactions = openClientTransactions({
    settings: { connectionString: proxy.url },
    poolSize: 1,
    onIdleError: () => undefined,
  });
  await using direct = new Holdfast({ connectionString: server.url });
  await worker.start();
  const first = await holdfast.enqueue(double, 1);
  await holdfast.wait(first.id);
  await transactions.transaction((client) => client.query('select 1'));

  proxy.strandConnections();
  const stranded = transactions.transaction((client) => client.query('select 1'));
  await Promise.all([
    expect(holdfast.enqueue(double, 2)).resolves.toMatchObject({ status: 'queued' }),
    direct.enqueue(double, 3).then(async ({ id }) => {
      expect(await direct.wait(id)).toMatchObject({ status: 'completed', result: 6 });
    }),
    expect(stranded).rejects.toMatchObject({ code: 'ETIMEDOUT' }),
  ]);
  const { rows } = await transactions.transaction((client) => client.query('select 1 as n'));
  expect(rows).toEqual([{ n: 1 }]);

  await worker.stop();
  await transactions.close();
  await holdfast.close();
  await proxy.close();
  await server.drop();
});
