import { statements, updateQueue } from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import { openExplainer } from './support/query-plan.ts';
import type { Statement } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';
import type { HandConnection } from './support/hand-connection.ts';
import type { Explainer } from './support/query-plan.ts';

const queuedCount = 200_000;
const scheduledCount = 100_000;
const heldCount = 2_000;
const graphCount = 100_000;
const batch = 10;
const nilUuid = '00000000-0000-0000-0000-000000000000';

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
  const inserts = [
    `insert into holdfast.jobs (project_id, id, queue_id, type, payload, created_at, run_at, status, seq, priority)
    select ${common}, now() - interval '1 minute', 'queued', nextval('holdfast.job_seq'), g % 3 + 4
    from generate_series(1, ${String(queuedCount)}) as g`,
    `insert into holdfast.jobs (project_id, id, queue_id, type, payload, created_at, run_at, status, seq)
    select ${commonIn(limitedQueueId)}, now() - interval '1 minute', 'queued', nextval('holdfast.job_seq')
    from generate_series(1, 1000) as g`,
    `insert into holdfast.jobs (project_id, id, queue_id, type, payload, created_at, run_at, status)
    select ${common}, now() + (g - 5000) * interval '1 second', 'scheduled'
    from generate_series(1, ${String(scheduledCount)}) as g`,
    `insert into holdfast.jobs (
      project_id, id, queue_id, type, payload, created_at, run_at, status, seq, attempt, execution_seq,
      worker_id, lease_token, claimed_at, started_at, lock_expires_at
    )
    select ${commonIn(limitedQueueId)}, now() - interval '1 minute', 'running', nextval('holdfast.job_seq'), 1, 1, gen_random_uuid(),
      gen_random_uuid(), now(), now(), now() + (g - 1000) * interval '1 second'
    from generate_series(1, ${String(heldCount)}) as g`,
  ];
  for (const insert of inserts) await connection.run(insert);
  await fillBatches(connection, projectId);
  for (const table of ['jobs', ...batchTables]) {
    await connection.run(`vacuum analyze holdfast.${table}`);
  }
  await connection.close();
}

const batchTables = ['batches', 'batch_callbacks', 'job_dependencies', 'job_endings'] as const;

/** Open batches of two jobs each, of which the first has ended and is not settled yet. */
async function fillBatches(connection: HandConnection, projectId: string): Promise<void> {
  const uuid = (what: string) => `md5('${what}' || g)::uuid`;
  const inserts = [
    `insert into holdfast.batches (project_id, id, kind, total_count, created_at, finished_at)
    select '${projectId}', ${uuid('batch')}, 'batch', 2, now() - interval '1 hour',
      case when g % 2 = 0 then now() end
    from generate_series(1, ${String(graphCount)}) as g`,
    `insert into holdfast.batch_callbacks (project_id, batch_id, role, job_id, job)
    select '${projectId}', ${uuid('batch')}, 'then', ${uuid('then')}, '{"type":"x","queue":"x"}'
    from generate_series(1, ${String(graphCount)}) as g`,
    `insert into holdfast.job_dependencies (project_id, parent_id, child_id, on_failure)
    select '${projectId}', ${uuid('parent')}, ${uuid('child')}, 'cancel'
    from generate_series(1, ${String(graphCount)}) as g`,
    `insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
    select '${projectId}', ${uuid('parent')}, 'completed', ${uuid('batch')}, true
    from generate_series(1, ${String(graphCount)}) as g`,
  ];
  for (const insert of inserts) await connection.run(insert);
}

/** Ten of the ids that {@link fillBatches} made. */
function madeIds(what: string): string {
  const digests = Array.from({ length: batch }, (_, index) =>
    createHash('md5')
      .update(`${what}${String(index + 1)}`)
      .digest('hex'),
  );
  return list(digests);
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
const newIds = () => list(Array.from({ length: batch }, () => randomUUID()));
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
    statement: statements.listWaitingPayloads,
    values: () => [backlog.projectId, nilUuid, String(batch), '{test.job}'],
    index: 'jobs_pkey',
    maxBlocks: 100,
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
  {
    statement: statements.holdBatches,
    values: () => [String(batch), '{}', 'null', 'true'],
    index: 'job_endings_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.takeMemberEndings,
    values: () => [String(batch), each(backlog.projectId), madeIds('batch')],
    index: 'job_endings_pkey',
    maxBlocks: 300,
  },
  {
    statement: statements.pickParentEndings,
    values: () => [String(batch), each(backlog.projectId), madeIds('batch'), 'true'],
    index: 'job_endings_pkey',
    maxBlocks: 50,
  },
  {
    statement: statements.holdChildren,
    values: () => [each(backlog.projectId), madeIds('parent'), each('cancelled')],
    index: 'job_dependencies_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.dropEndings,
    values: () => [backlog.projectId, madeIds('parent')],
    index: 'job_endings_of_job',
    maxBlocks: 200,
  },
  {
    statement: statements.settleDependencies,
    values: () => [backlog.projectId, madeIds('parent'), each('cancelled')],
    index: 'job_dependencies_pkey',
    maxBlocks: 500,
  },
  {
    statement: statements.countDownParents,
    values: () => [backlog.projectId, madeIds('child'), each(1)],
    index: 'jobs_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.countBatchEnds,
    values: () => [backlog.projectId, madeIds('batch'), each(1), each(0), each(0)],
    index: 'batches_pkey',
    maxBlocks: 300,
  },
  {
    statement: statements.listOpenCallbacks,
    values: () => [backlog.projectId, madeIds('batch')],
    index: 'batch_callbacks_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.markCallbacksEnqueued,
    values: () => [backlog.projectId, madeIds('then')],
    index: 'batch_callbacks_project_id_job_id_key',
    maxBlocks: 500,
  },
  {
    statement: statements.listCancelledBelow,
    values: () => [backlog.projectId, randomUUID()],
    index: 'job_dependencies_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.reopenDependencies,
    values: () => [backlog.projectId, madeIds('child')],
    index: 'job_dependencies_pkey',
    maxBlocks: 200,
  },
  {
    statement: statements.countOpenParents,
    values: () => [backlog.projectId, madeIds('child')],
    index: 'job_dependencies_of_child',
    maxBlocks: 200,
  },
  {
    statement: statements.listCancellableMembers,
    values: () => [backlog.projectId, randomUUID(), nilUuid, String(batch)],
    index: 'jobs_of_batch',
    maxBlocks: 20,
  },
  {
    statement: statements.listParents,
    values: () => [backlog.projectId, randomUUID()],
    index: 'job_dependencies_of_child',
    maxBlocks: 50,
  },
  {
    statement: statements.listBatchDependencies,
    values: () => [backlog.projectId, randomUUID()],
    index: 'jobs_of_batch',
    maxBlocks: 50,
  },
  {
    statement: statements.listBatches,
    values: () => [backlog.projectId, String(batch), 'null', 'null'],
    index: 'batches_newest',
    maxBlocks: 50,
  },
  {
    statement: statements.findTakenIds,
    values: () => [backlog.projectId, newIds(), newIds(), 'true'],
    index: 'jobs_pkey',
    // Each is looked up in every partition of history.
    maxBlocks: 400,
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
      for (const table of ['jobs', ...batchTables]) expect(plan.scannedTables).not.toContain(table);
      expect(plan.blockCount).toBeLessThanOrEqual(maxBlocks);
    },
  );
});
