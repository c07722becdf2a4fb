import { createWorker, defineJob, Holdfast } from 'holdfast';
import type { traceRun } from 'holdfast/opentelemetry';

const greet = defineJob({
  type: 'greet',
  run: ({ name }: { readonly name: string }) => ({ text: `Hello, ${name}` }),
});

const holdfast = new Holdfast({ connectionString: process.env['DATABASE_URL'] ?? '' });
await holdfast.migrate();
const worker = createWorker({ holdfast, jobs: [greet] });
// OpenTelemetry is not installed here, and its middleware fits all the same.
const trace = (tracing: ReturnType<typeof traceRun>): unknown => worker.use(tracing);
await worker.start();

// The delay makes it due only if the worker promotes jobs too.
const { id } = await holdfast.enqueue(greet, { name: 'Ada' }, { delay: '100ms' });
// @ts-expect-error The compiler knows the payload.
const misspelt = (): Promise<unknown> => holdfast.enqueue(greet, { nam: 'Ada' });
const job = await holdfast.wait(id, { timeout: '30s' });
console.log(job.status, JSON.stringify(job.result), typeof misspelt, typeof trace);

await worker.stop();
await holdfast.close();
