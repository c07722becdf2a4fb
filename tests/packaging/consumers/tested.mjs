import { defineJob } from 'holdfast';
import { createTestHoldfast } from 'holdfast/testing';

const greet = defineJob({ type: 'greet', run: ({ name }) => ({ text: `Hello, ${name}` }) });

try {
  const { DATABASE_URL: connectionString } = process.env;
  const test = await createTestHoldfast({ connectionString, jobs: [greet] });
  const { id } = await test.holdfast.enqueue(greet, { name: 'Ada' }, { delay: '2h' });
  await test.advance('2h');
  const { ran } = await test.drain();
  await test.expectEnqueued(greet, { name: 'Ada' });
  const { result } = await test.holdfast.get(id);
  console.log(ran.map(({ status }) => status).join(), JSON.stringify(result));
  await test.close();
} catch (error) {
  console.log(error.code, error.message);
}
