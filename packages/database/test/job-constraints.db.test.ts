import { enqueueJobs, finishJobs } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeSnapshot } from './support/job-snapshot.ts';
import type { JobStatus } from '@holdfast/domain';
import type { JobFactory, TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let factory: JobFactory;

beforeAll(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
});
afterAll(async () => {
  await test.drop();
});

/** For each rule: a job that keeps it, and a change that would break it. */
const violations: readonly (readonly [rule: string, status: JobStatus, change: string])[] = [
  ['jobs_lease_exactly_when_held', 'queued', 'lease_token = gen_random_uuid()'],
  ['jobs_lease_exactly_when_held', 'queued', 'lock_expires_at = now()'],
  ['jobs_lease_exactly_when_held', 'claimed', 'lease_token = null, lock_expires_at = null'],
  ['jobs_lease_exactly_when_held', 'running', 'lock_expires_at = null'],
  ['jobs_lease_exactly_when_held', 'dead_letter', 'lease_token = gen_random_uuid()'],
  ['jobs_holder_known_when_held', 'claimed', 'worker_id = null'],
  ['jobs_holder_known_when_held', 'running', 'claimed_at = null'],
  ['jobs_holder_absent_while_waiting', 'queued', 'worker_id = gen_random_uuid()'],
  ['jobs_holder_absent_while_waiting', 'scheduled', 'claimed_at = now()'],
  ['jobs_started_exactly_when_running', 'queued', 'started_at = now()'],
  ['jobs_started_exactly_when_running', 'scheduled', 'started_at = now()'],
  ['jobs_started_exactly_when_running', 'claimed', 'started_at = claimed_at'],
  ['jobs_started_exactly_when_running', 'running', 'started_at = null'],
  ['jobs_finished_exactly_when_ended', 'queued', 'finished_at = now()'],
  ['jobs_finished_exactly_when_ended', 'running', 'finished_at = now()'],
  ['jobs_finished_exactly_when_ended', 'failed', 'finished_at = null'],
  ['jobs_finished_exactly_when_ended', 'dead_letter', 'finished_at = null'],
  ['jobs_in_line_when_queued', 'queued', 'seq = null'],
  ['jobs_run_at_finite', 'scheduled', `run_at = 'infinity'`],
  ['jobs_run_at_finite', 'scheduled', `run_at = '-infinity'`],
  ['jobs_run_at_finite', 'queued', `run_at = 'infinity', pending_parents = 1`],
  ['jobs_run_at_finite', 'scheduled', 'pending_parents = 1'],
  ['jobs_run_at_near', 'scheduled', `run_at = created_at + interval '12 years'`],
  ['jobs_times_finite', 'queued', `created_at = 'infinity'`],
  ['jobs_times_finite', 'claimed', `lock_expires_at = 'infinity'`],
  ['jobs_times_in_order', 'running', `started_at = claimed_at - interval '1 ms'`],
  ['jobs_times_in_order', 'failed', `finished_at = started_at - interval '1 ms'`],
  ['jobs_cancel_request_while_held', 'queued', 'cancel_requested_at = now()'],
  ['jobs_cancel_request_while_held', 'scheduled', 'cancel_requested_at = now()'],
  ['jobs_cancel_request_while_held', 'dead_letter', 'cancel_requested_at = now()'],
  ['jobs_priority_range', 'queued', 'priority = -1'],
  ['jobs_priority_range', 'queued', 'priority = 10'],
  ['jobs_payload_version_range', 'queued', 'payload_version = 1'],
  ['jobs_payload_version_range', 'queued', 'payload_version = -1'],
  ['jobs_attempt_range', 'queued', 'attempt = -1'],
  ['jobs_attempt_range', 'queued', 'max_attempts = 0'],
  ['jobs_attempt_range', 'queued', 'max_attempts = 1001'],
  ['jobs_counts_not_negative', 'queued', 'execution_seq = -1'],
  ['jobs_counts_not_negative', 'queued', 'crash_count = -1'],
  ['jobs_counts_not_negative', 'queued', 'release_count = -1'],
  ['jobs_counts_not_negative', 'queued', 'generation = -1'],
  ['jobs_exception_count_not_negative', 'queued', 'exception_count = -1'],
  ['jobs_start_deadline_finite', 'queued', `start_deadline_at = 'infinity'`],
  ['jobs_timeout_range', 'queued', 'timeout_ms = 0'],
  ['jobs_timeout_range', 'queued', 'timeout_ms = 86400001'],
  ['jobs_type_length', 'queued', `type = ''`],
  ['jobs_type_length', 'queued', `type = repeat('x', 129)`],
];

async function checksOf(table: string): Promise<readonly string[]> {
  const rows = await test.database.query<{ name: string }>({
    name: `test_checks_of_${table}`,
    text: `select conname as name from pg_constraint
      where conrelid = 'holdfast.${table}'::regclass and contype = 'c' order by 1`,
  });
  return rows.map(({ name }) => name);
}

describe('a row of jobs', () => {
  it.each(violations)('keeps %s: no %s job may have %s', async (rule, status, change) => {
    const job = await factory.make(status);
    const before = await takeSnapshot(test.database, job);
    const update = `update holdfast.jobs set ${change} where id = '${job.id}'`;
    await expect(test.database.execute(update)).rejects.toMatchObject({
      code: '23514',
      constraint: rule,
    });
    expect(await takeSnapshot(test.database, job)).toEqual(before);
  });

  it('has no rule without a test', async () => {
    const tested = new Set(violations.map(([rule]) => rule));
    expect([...tested].sort()).toEqual(await checksOf('jobs'));
  });
});

describe('a row of history', () => {
  it('keeps the same rules, and has ended for good', async () => {
    const rules = [...(await checksOf('jobs')), 'job_history_ended'].sort();
    expect(await checksOf('job_history')).toEqual(rules);
  });

  it('can be of no other status', async () => {
    const job = await factory.completed();
    const text = `update holdfast.job_history set status = 'failed' where id = '${job.id}'`;
    await expect(test.database.execute(text)).rejects.toMatchObject({
      constraint: 'job_history_ended',
    });
  });
});

describe('a delay that is none', () => {
  it.each([Number.POSITIVE_INFINITY, Number.NaN, 2 ** 60])(
    '%s is refused at the insert',
    async (delayMs) => {
      const { projectId } = factory;
      const id = uuidV7(Date.now());
      const job = { id, queue: 'delays', type: 'test.job', payloadJson: '{}', delayMs };
      await expect(enqueueJobs(test.database, { projectId, jobs: [job] })).rejects.toMatchObject({
        // check_violation, datetime_field_overflow
        code: expect.stringMatching(/^(23514|22008)$/) as unknown,
      });
      expect((await takeSnapshot(test.database, { projectId, id })).jobs).toEqual([]);
    },
  );

  it.each([Number.POSITIVE_INFINITY, Number.NaN, -1])(
    '%s is refused as the backoff of a retry, which changes nothing',
    async (delayMs) => {
      const job = await factory.running();
      const before = await takeSnapshot(test.database, job);
      const decision = { transition: 'retry_jobs', executionStatus: 'failed', delayMs } as const;
      const ended = { ...job.lease, executionSeq: 1, startedAgoMs: 0, finishedAgoMs: 0, decision };
      const retry = finishJobs(test.database, {
        projectId: factory.projectId,
        transition: 'retry_jobs',
        jobs: [ended],
      });
      await expect(retry).rejects.toThrow();
      expect(await takeSnapshot(test.database, job)).toEqual(before);
    },
  );
});

describe('a row of job_executions', () => {
  it.each([
    ['job_executions_interrupted_or_ended', `status = 'running'`],
    ['job_executions_interrupted_or_ended', `lease_lost_at = now()`],
    ['job_executions_interrupted_or_ended', `finished_at = null`],
    ['job_executions_times_in_order', `started_at = claimed_at - interval '1 ms'`],
    ['job_executions_times_in_order', `finished_at = started_at - interval '1 ms'`],
  ])('keeps %s: an ended one may not have %s', async (rule, change) => {
    const job = await factory.completed();
    const text = `update holdfast.job_executions set ${change} where job_id = '${job.id}'`;
    await expect(test.database.execute(text)).rejects.toMatchObject({ constraint: rule });
  });
});
