import { statements, updateQueue } from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import { openExplainer } from './support/query-plan.ts';
import type { Statement } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';
import type { Explainer } from './support/query-plan.ts';

const queuedCount = 200_000;
const scheduledCount = 100_000;
const heldCount = 2_000;
const batch = 10;

let test: TestDatabase;
let backlog: Backlog;

/** What the statements of this file are called with. */
interface Backlog {
  readonly projectId: string;
  readonly queueId: string;
  /** A queue whose limit leaves room for more than a batch. */
  readonly limitedQueueId: string;
  readonly ids: readonly string[];
  readonly tokens: readonly string[];
}

beforeAll(async () => {
  test = await createTestDatabase();
  const factory = await createJobFactory(test.database);
  const { projectId, queueId } = await factory.completed();
  const limited = await factory.completed();
  const settings = { concurrency: heldCount + 5 * batch };
  await updateQueue(test.database, { projectId, name: limited.queue, settings });
  await fill({ projectId, queueId, limitedQueueId: limited.queueId });
  const rows = await test.database.query<{ id: string; lease_token: string }>({
    name: 'test_some_held',
    text: `select id, lease_token from holdfast.jobs where status = 'running' order by id limit ${String(batch)}`,
  });
  const ids = rows.map(({ id }) => id);
  const { queueId: limitedQueueId } = limited;
  backlog = { projectId, queueId, limitedQueueId, ids, tokens: rows.map((row) => row.lease_token) };
}, 120_000);
afterAll(async () => {
  await test.drop();
});

/** A large backlog as bulk enqueues, workers and an expired host leave it. */
async function fill(queues: Pick<Backlog, 'projectId' | 'queueId' | 'limitedQueueId'>) {
  const { projectId, queueId, limitedQueueId } = queues;
  const commonIn = (id: string) =>
    `'${projectId}', gen_random_uuid(), ${id}, 'test.job', '{}', now() - interval '1 hour'`;
  const common = commonIn(queueId);
  const connection = await openHandConnection(test.url);
  await connection.run('set statement_timeout = 0');
  await connection.run(`
    insert into holdfast.jobs (project_id, id, queue_id, type, payload, created_at, run_at, status, seq, priority)
    select ${common}, now() - interval '1 minute', 'queued', nextval('holdfast.job_seq'), g % 3 + 4
    from generate_series(1, ${String(queuedCount)}) as g;
    insert into holdfast.jobs (project_id, id, queue_id, type, payload, created_at, run_at, status, seq)
    select ${commonIn(limitedQueueId)}, now() - interval '1 minute', 'queued', nextval('holdfast.job_seq')
    from generate_series(1, 1000) as g;
    insert into holdfast.jobs (project_id, id, queue_id, type, payload, created_at, run_at, status)
    select ${common}, now() + (g - 5000) * interval '1 second', 'scheduled'
    from generate_series(1, ${String(scheduledCount)}) as g;
    insert into holdfast.jobs (
      project_id, id, queue_id, type, payload, created_at, run_at, status, seq, attempt, execution_seq,
      worker_id, lease_token, claimed_at, started_at, lock_expires_at
    )
    select ${commonIn(limitedQueueId)}, now() - interval '1 minute', 'running', nextval('holdfast.job_seq'), 1, 1, gen_random_uuid(),
      gen_random_uuid(), now(), now(), now() + (g - 1000) * interval '1 second'
    from generate_series(1, ${String(heldCount)}) as g;
  `);
  await connection.run('vacuum analyze holdfast.jobs');
  await connection.close();
}

interface Expectation {
  readonly statement: Statement;
  readonly values: () => readonly string[];
  readonly index: string;
  /** For a batch of ten, with everything that the writes touch. */
  readonly maxBlocks: number;
}

const list = (values: readonly (string | number)[]): string => `{${values.join(',')}}`;
const each = (value: string | number): string => list(Array.from({ length: batch }, () => value));
const priorities = Array.from({ length: 10 }, (_, priority) => priority);
const holder = (): readonly string[] => [randomUUID(), randomUUID(), '30000'];
const leases = () => [backlog.projectId, list(backlog.ids), list(backlog.tokens)];

const expectations: readonly Expectation[] = [
  {
    statement: statements.claimJobs,
    values: () => [
      backlog.projectId,
      list(priorities.map(() => backlog.queueId)),
      list(priorities),
      list(priorities.map(() => 0)),
      '{test.job}',
      String(batch),
      '1',
      ...holder(),
    ],
    index: 'jobs_claim',
    maxBlocks: 200,
  },
  {
    statement: statements.claimJobsWithinLimit,
    values: () => [
      backlog.projectId,
      backlog.limitedQueueId,
      '{test.job}',
      String(batch),
      '1',
      ...holder(),
    ],
    index: 'jobs_leased',
    maxBlocks: 400,
  },
  {
    statement: statements.promoteJobs,
    values: () => [String(batch)],
    index: 'jobs_due',
    maxBlocks: 300,
  },
  {
    statement: statements.startJobs,
    values: () => [...leases(), each(1)],
    index: 'jobs_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.extendLeases,
    values: () => [...leases(), '30000'],
    index: 'jobs_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.completeJobs,
    values: () => [...leases(), each(2), each(1), each('1')],
    index: 'jobs_pkey',
    maxBlocks: 400,
  },
  {
    statement: statements.retryJobs,
    values: () => [...leases(), each(2), each(1), each('failed'), each('x'), each('1'), each(1000)],
    index: 'jobs_pkey',
    maxBlocks: 400,
  },
  {
    statement: statements.returnJobs,
    values: () => [...leases(), each('drain')],
    index: 'jobs_pkey',
    maxBlocks: 400,
  },
  {
    statement: statements.reapJobs,
    values: () => ['0', String(batch)],
    index: 'jobs_leased',
    maxBlocks: 400,
  },
  {
    statement: statements.cancelJobs,
    values: () => [backlog.projectId, `{${randomUUID()}}`, 'asked', '{}'],
    index: 'jobs_pkey',
    maxBlocks: 20,
  },
  {
    statement: statements.expireJobs,
    values: () => [String(batch)],
    index: 'jobs_unstarted',
    maxBlocks: 20,
  },
  {
    statement: statements.nextDueIn,
    values: () => [],
    index: 'jobs_due',
    maxBlocks: 20,
  },
  {
    statement: statements.retireDeadLetters,
    values: () => ['0', '10'],
    index: 'jobs_resting',
    maxBlocks: 20,
  },
];

describe.each([
  ['the settings of a lane', 'lane'],
  ['the planner’s own settings', 'general'],
] as const)('with %s and a generic plan', (_, kind) => {
  let explainer: Explainer;

  beforeAll(async () => {
    explainer = await openExplainer(test.url, kind);
  });
  afterAll(async () => {
    await explainer.close();
  });

  it.each(expectations.map((each) => [each.statement.name, each] as const))(
    '%s finds its rows by an index and touches few blocks',
    async (_name, { statement, values, index, maxBlocks }) => {
      const plan = await explainer.explain(statement, values());
      expect(plan.indexes).toContain(index);
      expect(plan.scannedTables).not.toContain('jobs');
      expect(plan.blockCount).toBeLessThanOrEqual(maxBlocks);
    },
  );
});
