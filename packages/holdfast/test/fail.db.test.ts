import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { FailOptions, Job, Worker } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

interface Failure {
  readonly thrown: unknown;
  readonly options: FailOptions;
}

let test: TestHoldfast;
let worker: Worker;
const failures = new Map<string, Failure>();
const failing = defineJob<{ name: string }>({
  type: 'failing',
  run({ name }, { fail }) {
    const failure = failures.get(name);
    return fail(failure?.thrown, failure?.options);
  },
});

beforeAll(async () => {
  test = await openHoldfast();
  worker = createWorker({ holdfast: test.holdfast, jobs: [failing], maintenance: false });
  await worker.start();
});
afterAll(async () => {
  await worker.stop();
  await test.close();
});

/** The job that failed so, once it has ended: with more attempts it would wait longer than a test. */
async function failWith(name: string, failure: Failure): Promise<Job> {
  failures.set(name, failure);
  const { id } = await test.holdfast.enqueue(failing, { name });
  return await test.holdfast.wait(id, { timeout: '45s' });
}

function hostile(): never {
  throw new Error('do not touch');
}

const unreadable: Record<string, unknown> = {
  'an object without a prototype': Object.create(null) as unknown,
  'a proxy that throws': new Proxy({}, { get: hostile, getPrototypeOf: hostile, has: hostile }),
  'an error whose stack throws': Object.defineProperty(new Error('read me'), 'stack', {
    get: hostile,
  }),
  'an error whose message throws': Object.defineProperty(new Error(), 'message', { get: hostile }),
  'a symbol': Symbol('odd'),
  nothing: undefined,
};

describe('fail', () => {
  it.each(Object.entries(unreadable))('makes a dead letter of %s at once', async (name, thrown) => {
    const job = await failWith(name, { thrown, options: { retry: false } });
    expect(job).toMatchObject({
      status: 'dead_letter',
      reason: 'non_retryable',
      attempt: 1,
      lastError: { code: 'handler_failed' },
    });
  });

  it('says of an error that can be read in part what can be read', async () => {
    const thrown = unreadable['an error whose stack throws'];
    const job = await failWith('in part', { thrown, options: { retry: false } });
    expect(job.lastError).toMatchObject({ message: 'read me' });
  });

  it.each([
    ['null', null, 'the options must be an object'],
    ['a text', 'no', 'the options must be an object'],
    ['a misspelt name', { retyr: false }, 'there is no option "retyr"; did you mean "retry"?'],
    ['a retry that is no boolean', { retry: 'no' }, 'retry must be true or false'],
    ['a delay that is none', { delay: 'soon' }, 'delay must be milliseconds or a duration'],
  ])('does not try again by options which are %s', async (name, options, problem) => {
    const failure = { thrown: new Error('no such customer'), options: options as FailOptions };
    const job = await failWith(name, failure);
    expect(job).toMatchObject({
      status: 'dead_letter',
      reason: 'non_retryable',
      attempt: 1,
      lastError: { code: 'options_invalid' },
    });
    expect(job.lastError?.message).toContain(`ctx.fail: ${problem}`);
    expect(job.lastError?.message).toContain('no such customer');
    expect(job.lastError?.stack).toContain('fail.db.test');
  });
});
