import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;

beforeAll(async () => {
  test = await openHoldfast();
});
afterAll(() => test.close());

describe('a worker', () => {
  it('runs a job and keeps its result', async () => {
    const greet = defineJob({
      type: 'greet',
      run: ({ name }: { name: string }) => ({ text: `Hello, ${name}` }),
    });
    await using worker = createWorker({ holdfast: test.holdfast, jobs: [greet] });
    await worker.start();
    const { id } = await test.holdfast.enqueue(greet, { name: 'Ada' });
    const job = await test.holdfast.wait(id, { timeout: '10s' });
    expect(job).toMatchObject({ status: 'completed', result: { text: 'Hello, Ada' }, attempt: 1 });
  });
});
