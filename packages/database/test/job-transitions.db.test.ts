import { statements } from '@holdfast/database';
import { jobStatuses, jobTransitions, uuidV7 } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onlyRow, takeSnapshot } from './support/job-snapshot.ts';
import { fencedTransitions, transitionCases } from './support/transition-cases.ts';
import type { JobStatus, Transition, TransitionName } from '@holdfast/domain';
import type { JobFactory, MadeJob, TestDatabase } from '@holdfast/testing';
import type { JobSnapshot, StoredJob } from './support/job-snapshot.ts';
import type { Change, Effect, TransitionCase } from './support/transition-cases.ts';

type Start = JobStatus | 'absent';

let test: TestDatabase;
let factory: JobFactory;

beforeAll(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
});
afterAll(async () => {
  await test.drop();
});

const starts: readonly Start[] = ['absent', ...jobStatuses];
const names = Object.keys(jobTransitions) as TransitionName[];

function leavesFrom(name: TransitionName): readonly Start[] {
  const { from }: Transition = jobTransitions[name];
  return from.length === 0 ? ['absent'] : from;
}

function startsOf(name: TransitionName, are: 'legal' | 'illegal') {
  const wanted = starts.filter((start) => leavesFrom(name).includes(start) === (are === 'legal'));
  return wanted.map((start) => [name, start] as const);
}

const legal = names.flatMap((name) => startsOf(name, 'legal'));
const illegal = names.flatMap((name) => startsOf(name, 'illegal'));

async function makeJob(start: Start, { recipe = {}, prepare }: TransitionCase): Promise<MadeJob> {
  const job = start === 'absent' ? await nobody() : await factory.make(start, recipe);
  await prepare?.(test.database, job);
  return job;
}

/** A job that was never enqueued, in a queue that exists. */
async function nobody(): Promise<MadeJob> {
  const neighbour = await factory.completed();
  return { ...neighbour, id: uuidV7(Date.now()), lease: undefined };
}

function leaseOf(job: MadeJob) {
  return job.lease ?? { id: job.id, token: randomUUID() };
}

describe('a legal transition', () => {
  it.each(legal)('%s leads a job that is %s to its target', async (name, start) => {
    const each = transitionCases[name];
    const job = await makeJob(start, each);
    const before = await takeSnapshot(test.database, job);
    await each.run(test.database, job, leaseOf(job));
    const after = await takeSnapshot(test.database, job);
    expect(onlyRow(after).status).toBe(jobTransitions[name].to);
    expect(after.history).toHaveLength(endsForGood(name) ? 1 : 0);
    if (start !== 'absent') expectCounts(each.effect, onlyRow(before), onlyRow(after));
    expectExecution(each.effect, before, after);
    expect(onlyRow(after).reason).toBe(each.effect.reason ?? null);
  });
});

describe('an illegal transition', () => {
  it.each(illegal)('%s leaves a job that is %s as it is', async (name, start) => {
    const each = transitionCases[name];
    const job = await makeJob(start, each);
    const before = await takeSnapshot(test.database, job);
    await each.run(test.database, job, leaseOf(job));
    expect(await takeSnapshot(test.database, job)).toEqual(before);
  });
});

describe('a worker without the lease', () => {
  const held = fencedTransitions.flatMap((name) => startsOf(name, 'legal'));

  it.each(held)('%s with another token leaves a %s job', async (name, start) => {
    const each = transitionCases[name];
    const job = await makeJob(start, each);
    const before = await takeSnapshot(test.database, job);
    await each.run(test.database, job, { id: job.id, token: randomUUID() });
    expect(await takeSnapshot(test.database, job)).toEqual(before);
  });

  it.each(held)('%s from another project leaves a %s job', async (name, start) => {
    const each = transitionCases[name];
    const job = await makeJob(start, each);
    const before = await takeSnapshot(test.database, job);
    await each.run(test.database, { ...job, projectId: randomUUID() }, leaseOf(job));
    expect(await takeSnapshot(test.database, job)).toEqual(before);
  });
});

describe('an expired lease', () => {
  // The order of a round of the reaper.
  const round = [
    'force_cancel_jobs',
    'reap_poison_jobs',
    'reap_suspect_jobs',
    'reap_blameless_jobs',
    'reap_jobs',
  ] as const satisfies readonly TransitionName[];
  const situations = (['claimed', 'running'] as const).flatMap((status) =>
    [0, 1, 2, 3].flatMap((crashCount) =>
      ['with', 'without'].map((request) => [status, crashCount, request] as const),
    ),
  );

  it.each(situations)(
    'of a %s job with %i crashes, %s a cancel request, is taken by one statement',
    async (status, crashCount, request) => {
      const takers: string[] = [];
      for (const name of round) {
        const job = await factory.make(status, { crashCount, leaseMs: 0 });
        const values = [job.projectId, job.id, 'asked'];
        if (request === 'with') await test.database.query(statements.requestCancel, values);
        const before = await takeSnapshot(test.database, job);
        await transitionCases[name].run(test.database, job, leaseOf(job));
        const after = await takeSnapshot(test.database, job);
        if (JSON.stringify(after) !== JSON.stringify(before)) takers.push(name);
      }
      expect(takers).toHaveLength(1);
    },
  );
});

function endsForGood(name: TransitionName): boolean {
  const { to } = jobTransitions[name];
  return to === 'completed' || to === 'cancelled' || name === 'retire_dead_letters';
}

function expectCounts(effect: Effect, before: StoredJob, after: StoredJob): void {
  const counts = (row: StoredJob) => ({
    attempt: row.attempt,
    crashCount: row.crash_count,
    executionSeq: row.execution_seq,
    releaseCount: row.release_count,
    generation: row.generation,
  });
  const old = counts(before);
  expect(counts(after)).toEqual({
    attempt: changed(old.attempt, effect.attempt),
    crashCount: changed(old.crashCount, effect.crashCount),
    executionSeq: changed(old.executionSeq, effect.executionSeq),
    releaseCount: changed(old.releaseCount, effect.releaseCount),
    generation: changed(old.generation, effect.generation),
  });
  if (effect.seq === 'kept') expect(after.seq).toBe(before.seq);
  if (effect.seq === 'new') expect(after.seq).toBeGreaterThan(before.seq ?? 0);
}

function changed(count: number, change: Change = 0): number {
  return change === 'reset' ? 0 : count + change;
}

function expectExecution({ execution }: Effect, before: JobSnapshot, after: JobSnapshot): void {
  const added = after.executions.slice(before.executions.length);
  expect(after.executions.slice(0, before.executions.length)).toEqual(before.executions);
  expect(added).toHaveLength(execution === undefined ? 0 : 1);
  const [row] = added;
  if (row === undefined || execution === undefined) return;
  const { attempt, execution_seq } = onlyRow(before);
  expect(row).toMatchObject({ attempt, execution_seq, status: execution.status });
  expect(row.reason).toBe(execution.reason);
  expect(row.lease_lost_at !== null).toBe(execution.interrupted === true);
  expect(row.finished_at === null).toBe(execution.interrupted === true);
}
