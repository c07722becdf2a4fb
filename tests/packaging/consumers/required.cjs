const { createWorker, defineJob, Holdfast } = require('holdfast');

const greet = defineJob({
  type: 'greet',
  run: ({ name }) => ({ text: `Hello, ${name}` }),
});

async function main() {
  const holdfast = new Holdfast({ connectionString: process.env.DATABASE_URL });
  await holdfast.migrate();
  const worker = createWorker({ holdfast, jobs: [greet] });
  await worker.start();

  const { id } = await holdfast.enqueue(greet, { name: 'Ada' });
  const job = await holdfast.wait(id, { timeout: '30s' });
  console.log(job.status, JSON.stringify(job.result));

  await worker.stop();
  await holdfast.close();
}

void main();
