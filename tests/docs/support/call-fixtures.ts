import { waitFor } from '@holdfast/testing';
import { createWorker } from 'holdfast';
import { createTestHoldfast } from 'holdfast/testing';
import type { TestHoldfast } from 'holdfast/testing';
import type { BatchEnqueueResult, EnqueueResult, Holdfast, JobDefinition, Worker } from 'holdfast';
import type { Client } from 'pg';

/** What every page sets up. */
export interface OwnNames {
  readonly holdfast: Holdfast;
  readonly worker: Worker;
  readonly sendMail: JobDefinition<string, { to: string }, { to: string }>;
  readonly ada: { readonly to: string };
}

/** What the calls find beside that; the pages say what each of them is. */
export interface CallFixtures {
  /** Waits to be run. */
  readonly job: EnqueueResult;
  /** Is due in an hour. */
  readonly later: EnqueueResult;
  /** Rests in `failed`. */
  readonly failed: EnqueueResult;
  readonly deadLetter: EnqueueResult;
  /** Of two jobs that wait. */
  readonly batch: BatchEnqueueResult;
  readonly tomorrow: Date;
  /** What `createTestHoldfast` gives. */
  readonly jobs: TestHoldfast;
  /** Has begun a transaction. */
  readonly client: Client;
}

/** What the fixtures are made with. */
export interface FixtureRequest {
  /** Their names. */
  readonly uses: ReadonlySet<string>;
  readonly client: Client;
}

/** Makes those that a call says. */
export async function makeFixtures(
  own: OwnNames,
  { uses, client }: FixtureRequest,
): Promise<Partial<CallFixtures>> {
  const { holdfast, sendMail, ada } = own;
  const makers = {
    job: () => holdfast.enqueue(sendMail, ada),
    later: () => holdfast.enqueue(sendMail, ada, { delay: '1h' }),
    failed: () => failOnce(own, 'manual'),
    deadLetter: () => failOnce(own, 'automatic'),
    batch: () => holdfast.batch([sendMail.with(ada), sendMail.with(ada)]).enqueue(),
    tomorrow: () => new Date(Date.now() + 86_400_000),
    jobs: () => createTestHoldfast({ jobs: [sendMail] }),
    client: async () => {
      await client.query('begin');
      return client;
    },
  };
  const fixtures: Record<string, unknown> = {};
  for (const [name, make] of Object.entries(makers)) {
    if (uses.has(name)) fixtures[name] = await make();
  }
  return fixtures;
}

/** The statuses of the jobs among the fixtures. */
export async function statusesOf(
  { holdfast }: OwnNames,
  fixtures: Partial<CallFixtures>,
): Promise<Readonly<Record<string, string>>> {
  const { job, later, failed, deadLetter } = fixtures;
  const statuses: Record<string, string> = {};
  for (const [name, made] of Object.entries({ job, later, failed, deadLetter })) {
    if (made !== undefined) statuses[name] = (await holdfast.get(made.id)).status;
  }
  return statuses;
}

async function failOnce(
  { holdfast, sendMail, ada }: OwnNames,
  retry: 'manual' | 'automatic',
): Promise<EnqueueResult> {
  const worker = createWorker({ holdfast }).handle(sendMail.type, () => {
    throw new Error('the mail server is down');
  });
  await worker.start();
  const made = await holdfast.enqueue(sendMail, ada, { retry, maxAttempts: 1 });
  await waitFor('the job has failed', async () => {
    const { status } = await holdfast.get(made.id);
    return status === 'failed' || status === 'dead_letter';
  });
  await worker.stop();
  return made;
}
