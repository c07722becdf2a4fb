import { createWorker, Holdfast } from 'holdfast';
import { greet } from './thread-jobs.mjs';

const holdfast = new Holdfast({ connectionString: process.env.DATABASE_URL });
await holdfast.migrate();
const worker = createWorker({ holdfast, jobs: [greet] });
await worker.start();

const { id } = await holdfast.enqueue(greet, { name: 'Ada' });
const job = await holdfast.wait(id, { timeout: '30s' });
console.log(job.status, JSON.stringify(job.result));

await worker.stop();
await holdfast.close();
