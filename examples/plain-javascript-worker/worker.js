import { createWorker, Holdfast } from 'holdfast';
import { count, greet } from './jobs.js';

const holdfast = new Holdfast({ connectionString: process.env.DATABASE_URL });
await holdfast.migrate();

const worker = createWorker({ holdfast, jobs: [greet, count], concurrency: 10 });
worker.on('WorkerStarted', () => console.log('The worker is ready; Ctrl-C stops it.'));
worker.on('JobProcessed', ({ type, jobId, durationMs }) =>
  console.log(`${type} ${jobId} took ${Math.round(durationMs)} ms`),
);
worker.on('JobExceptionOccurred', ({ type, jobId, error }) =>
  console.log(`${type} ${jobId} failed: ${error.message}`),
);
worker.on('WorkerStopping', () => console.log('Stopping; what runs may end first.'));

await worker.run();
console.log('Stopped.');
