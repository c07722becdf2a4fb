import { createWorker, defineJob, Holdfast } from 'holdfast';

const greet = defineJob({
  type: 'greet',
  run: ({ name }) => ({ text: `Hello, ${name}` }),
});

const tracing = await import('holdfast/opentelemetry').catch((error) => {
  const [, missing] = /'(@opentelemetry\/\w+)'/.exec(error.message) ?? [];
  console.log(`missing: ${missing}`);
});

if (tracing !== undefined) {
  const holdfast = new Holdfast({ connectionString: process.env.DATABASE_URL });
  await holdfast.migrate();
  holdfast.use(tracing.traceEnqueue());
  const worker = createWorker({ holdfast, jobs: [greet] }).use(tracing.traceRun());
  await worker.start();

  const { id } = await holdfast.enqueue(greet, { name: 'Ada' });
  const job = await holdfast.wait(id, { timeout: '30s' });
  console.log(job.status, JSON.stringify(job.result));

  await worker.stop();
  await holdfast.close();
}
