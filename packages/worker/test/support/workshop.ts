import {
  cancelJob,
  createNotifier,
  enqueueJobs,
  findProject,
  reapExpiredLeases,
} from '@holdfast/database';
import type { Database, NewJob, SqlValue } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { createLogger } from '@holdfast/runtime';
import { createTestDatabase, waitFor } from '@holdfast/testing';
import { createHash } from 'node:crypto';
import { createWorkerEngine } from '../../src/worker-engine.ts';
import type { WorkerEngine } from '../../src/worker-engine.ts';
import type { WorkerOptions } from '../../src/worker-options.ts';

/** What the database says about a job. */
export interface StoredJob {
  readonly status: string;
  readonly attempt: number;
  readonly executionSeq: number;
  readonly reason: string | null;
  readonly result: unknown;
  readonly lastError: { readonly code: string; readonly message: string } | null;
  readonly cancelRequestedAt: Date | null;
}

type EngineOptions = Partial<WorkerOptions> & Pick<WorkerOptions, 'handlers'>;

/** A database of a test's own, with engines in the test's process. */
export interface Workshop {
  readonly url: string;
  readonly database: Database;
  readonly projectId: string;
  /** Starts an engine, with a lease of ten seconds unless the options say otherwise; a shorter one from its first heartbeat on. */
  start(options: EngineOptions): Promise<WorkerEngine>;
  enqueue(type: string, job?: Partial<Omit<NewJob, 'type'>>): Promise<string>;
  /** Runs SQL of the test. */
  ask<Row extends object>(text: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  job(id: string): Promise<StoredJob | undefined>;
  /** Waits until the job is completed, cancelled, failed or dead; what it is to wait for between attempts, it does not. */
  untilEnded(id: string): Promise<StoredJob>;
  executions(id: string): Promise<readonly { readonly status: string; readonly seq: number }[]>;
  /** Makes the job's lease run out, and lets the reaper see it. */
  takeLease(id: string): Promise<void>;
  /** Stops the engines that run. */
  stopEngines(): Promise<void>;
  /** Asks for the end of the job, as a person does. */
  cancel(id: string): Promise<void>;
  /** What the engines logged, one object a line. */
  logs(): readonly Readonly<Record<string, unknown>>[];
  close(): Promise<void>;
}

/** Long enough for a busy machine. */
const leaseMs = 10_000;
const heartbeatMs = 200;
const ended = ['completed', 'cancelled', 'failed', 'dead_letter'];

/** Opens a workshop on an empty queue. */
export async function openWorkshop(): Promise<Workshop> {
  const test = await createTestDatabase();
  const { database } = test;
  const project = await findProject(database, 'default');
  if (project === undefined) throw new Error('The database has no project named default');
  const { id: projectId } = project;
  const engines: WorkerEngine[] = [];
  const lines: string[] = [];
  const logger = createLogger({
    name: 'test',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const notifier = createNotifier(database);

  const ask = <Row extends object>(text: string, values: readonly SqlValue[] = []) => {
    // Prepared by name, so each text needs one of its own.
    const name = `test_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    return database.query<Row>({ name, text }, values);
  };
  const job = async (id: string): Promise<StoredJob | undefined> => {
    const [row] = await ask<StoredJob>(
      `select status::text, attempt, execution_seq as "executionSeq", reason, result,
         last_error as "lastError", cancel_requested_at as "cancelRequestedAt"
       from holdfast.all_jobs where id = $1`,
      [id],
    );
    return row;
  };
  /** On a slow machine the thread of the heartbeat may take as long to start as a short lease lasts. */
  const untilItBeats = (engine: WorkerEngine) =>
    waitFor('the heartbeat has begun', async () => {
      const text = 'select from holdfast.workers where id = $1 and rss_bytes is not null';
      return (await ask(text, [engine.id])).length > 0;
    });
  const stopEngines = async (): Promise<void> => {
    await Promise.all(engines.splice(0).map((engine) => engine.stop()));
  };
  return {
    url: test.url,
    ...{ database, projectId, ask, job },
    async start(options) {
      const fast = {
        leaseMs,
        heartbeatMs,
        pollIntervalMs: 50,
        guards: false,
        drainTimeoutMs: 5_000,
      };
      const engine = createWorkerEngine({ database, projectId, logger, ...fast, ...options });
      engines.push(engine);
      await engine.start();
      if (options.leaseMs !== undefined) await untilItBeats(engine);
      return engine;
    },
    async enqueue(type, more = {}) {
      const id = uuidV7(Date.now());
      const jobs = [{ id, type, queue: 'work', payloadJson: '{}', ...more }];
      const { queueIds } = await enqueueJobs(database, { projectId, jobs });
      notifier.wakeQueues(queueIds);
      return id;
    },
    untilEnded: (id) =>
      waitFor(
        `the job ${id} is at its end`,
        async () => {
          await ask(
            `update holdfast.jobs set status = 'queued', seq = nextval('holdfast.job_seq'), run_at = clock_timestamp()
             where id = $1 and status = 'scheduled'`,
            [id],
          );
          const found = await job(id);
          return found !== undefined && ended.includes(found.status) && found;
        },
        { timeoutMs: 40_000 },
      ),
    executions: (id) =>
      ask(
        `select status::text, execution_seq as seq from holdfast.all_executions
         where job_id = $1 order by execution_seq`,
        [id],
      ),
    async takeLease(id) {
      const tokenOf = async (): Promise<string | null | undefined> => {
        const text = 'select lease_token as token from holdfast.jobs where id = $1';
        return (await ask<{ readonly token: string | null }>(text, [id]))[0]?.token;
      };
      const token = await tokenOf();
      if (typeof token !== 'string') throw new Error(`Nobody holds the job ${id}`);
      // A heartbeat that comes between the two statements makes the lease a good one again.
      await waitFor(`the lease of ${id} is taken`, async () => {
        await ask(
          `update holdfast.jobs set lock_expires_at = clock_timestamp() - interval '1 hour'
           where id = $1 and lease_token = $2`,
          [id, token],
        );
        await reapExpiredLeases(database, { leaseMs: 1 });
        return (await tokenOf()) !== token;
      });
    },
    stopEngines,
    async cancel(id) {
      await cancelJob(database, { projectId, id, reason: 'cancelled' });
    },
    logs: () => lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>),
    async close() {
      await stopEngines();
      await notifier.close();
      await test.drop();
    },
  };
}
