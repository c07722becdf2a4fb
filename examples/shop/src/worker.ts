import { createWorker } from 'holdfast';
import { createTables, holdfast, pool } from './database.ts';
import { handleImports } from './import-handlers.ts';
import { handleOrders } from './order-handlers.ts';

await createTables();

const worker = createWorker({ holdfast, concurrency: 10 });
handleOrders(worker);
handleImports(worker);
worker.on('WorkerStarted', () => console.log('The worker is ready; Ctrl-C stops it.'));
worker.on('JobProcessed', ({ type, jobId }) => console.log(`${type} ${jobId} completed`));
worker.on('JobFailed', ({ type, jobId, error }) =>
  console.log(`${type} ${jobId} failed: ${error?.message ?? 'its worker died'}`),
);

await worker.run();
await pool.end();
console.log('Stopped.');
