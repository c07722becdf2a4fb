import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createNotifier, enqueueJobs, findProject } from '@holdfast/database';
import type { Database, NewJob } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type { JobStatus } from '@holdfast/domain';
import { createTestDatabase, spawnProcess, waitFor } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';
import { checkRun } from './check-run.ts';
import type { Run, Violation } from './check-run.ts';
import { openGate, readLedger } from './ledger.ts';
import type { LedgerEntry } from './ledger.ts';
import { ask, readRecords } from './records.ts';
import type { Records } from './records.ts';

/** Environment variables of a process under test. */
export type Settings = Readonly<Record<string, string>>;

/** What a job of a test is; the rest has defaults. */
export interface ChaosJob extends Partial<Omit<NewJob, 'id' | 'payloadJson'>> {
  readonly type: string;
  readonly payload?: object;
}

/** A database, the processes on it, and the evidence of what they did. */
export interface Arena {
  readonly database: Database;
  readonly projectId: string;
  /** Starts a worker process and waits until it says that it works, and its heartbeat too. */
  startWorker(settings?: Settings): Promise<SpawnedProcess>;
  startScheduler(settings?: Settings): Promise<SpawnedProcess>;
  /** Inserts jobs of these types in this order, in one statement, and answers their ids. */
  enqueue(jobs: readonly ChaosJob[]): Promise<readonly string[]>;
  /** Adds ids that the test enqueued by itself to those whose jobs must not be lost. */
  acknowledge(ids: readonly string[]): void;
  openGate(gate: string): void;
  ledger(): readonly LedgerEntry[];
  /** The path of a file of the ledger, for a test that wants to forge one. */
  ledgerFile(name: string): string;
  /** What the database says now. */
  records(): Promise<Records>;
  /** How many jobs are not at their end. */
  countUnfinished(): Promise<number>;
  /** How many jobs have this status; with `expected`, whether it is that many. */
  countIn(status: JobStatus): Promise<number>;
  countIn(status: JobStatus, expected: number): Promise<boolean>;
  /** Waits until all jobs are at their end, and gives what the database says then. */
  untilQuiet(timeoutMs?: number): Promise<Records>;
  /** Runs the checker on all that happened here. */
  check(options?: Partial<Run>): Promise<readonly Violation[]>;
  /** What the processes wrote, for the report of a failed test. */
  outputs(): string;
  /** Kills what still runs and removes the database. */
  close(): Promise<void>;
}

/** Leases in these tests are short, so that what takes one need not take half a minute. */
export const leaseMs = 3_000;

const workerScript = fileURLToPath(new URL('../../../apps/worker/dist/main.js', import.meta.url));
const schedulerScript = fileURLToPath(
  new URL('../../../apps/scheduler/dist/main.js', import.meta.url),
);
const handlers = fileURLToPath(new URL('../handlers/jobs.mjs', import.meta.url));

const processSettings = {
  HOLDFAST_LEASE: `${leaseMs}ms`,
  HOLDFAST_HEARTBEAT: '500ms',
  HOLDFAST_TICK: '1s',
  LOG_FORMAT: 'json',
};

/** Opens an arena on a database of its own, or on one that the test brings and removes itself. */
export async function openArena(given?: TestDatabase): Promise<Arena> {
  const test = given ?? (await createTestDatabase());
  const project = await findProject(test.database, 'default');
  if (project === undefined) throw new Error('The database has no project named default');
  return new ProcessArena(test, project.id);
}

class ProcessArena implements Arena {
  readonly database: Database;
  readonly projectId: string;
  readonly #test: TestDatabase;
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-chaos-'));
  readonly #ledger = join(this.#folder, 'ledger');
  readonly #gates = join(this.#folder, 'gates');
  readonly #processes: { readonly name: string; readonly process: SpawnedProcess }[] = [];
  readonly #acknowledged: string[] = [];

  constructor(test: TestDatabase, projectId: string) {
    this.#test = test;
    this.database = test.database;
    this.projectId = projectId;
    mkdirSync(this.#ledger);
    mkdirSync(this.#gates);
  }

  async startWorker(settings: Settings = {}): Promise<SpawnedProcess> {
    const worker = await this.#start(workerScript, { HOLDFAST_HANDLERS: handlers, ...settings });
    const sql = 'select from holdfast.workers where pid = $1 and rss_bytes is not null';
    // On a slow machine the thread of the heartbeat may take as long to start as a short lease lasts.
    await waitFor('the heartbeat has begun, or the worker has died', async () => {
      return !worker.isRunning() || (await ask(this.database, sql, [worker.pid])).length > 0;
    });
    return worker;
  }

  startScheduler(settings: Settings = {}): Promise<SpawnedProcess> {
    return this.#start(schedulerScript, settings);
  }

  async enqueue(jobs: readonly ChaosJob[]): Promise<readonly string[]> {
    const full = jobs.map(({ payload = {}, queue = 'work', ...job }) => ({
      ...job,
      queue,
      id: uuidV7(Date.now()),
      payloadJson: JSON.stringify(payload),
    }));
    const { projectId } = this;
    const { queueIds } = await enqueueJobs(this.database, { projectId, jobs: full });
    const ids = full.map(({ id }) => id);
    this.acknowledge(ids);
    const notifier = createNotifier(this.database);
    notifier.wakeQueues(queueIds);
    await notifier.close();
    return ids;
  }

  acknowledge(ids: readonly string[]): void {
    this.#acknowledged.push(...ids);
  }

  openGate(gate: string): void {
    openGate(this.#gates, gate);
  }

  ledger(): readonly LedgerEntry[] {
    return readLedger(this.#ledger);
  }

  ledgerFile(name: string): string {
    return join(this.#ledger, name);
  }

  async countUnfinished(): Promise<number> {
    const sql = `
      select count(*)::integer as count from holdfast.jobs
      where status in ('queued', 'scheduled', 'claimed', 'running')`;
    const [row] = await ask<{ readonly count: number }>(this.database, sql);
    return row?.count ?? 0;
  }

  countIn(status: JobStatus): Promise<number>;
  countIn(status: JobStatus, expected: number): Promise<boolean>;
  async countIn(status: JobStatus, expected?: number): Promise<number | boolean> {
    const sql = 'select count(*)::integer as count from holdfast.jobs where status::text = $1';
    const [row] = await ask<{ readonly count: number }>(this.database, sql, [status]);
    const count = row?.count ?? 0;
    return expected === undefined ? count : count === expected;
  }

  records(): Promise<Records> {
    return readRecords(this.database);
  }

  async untilQuiet(timeoutMs = 120_000): Promise<Records> {
    const isQuiet = async () => (await this.countUnfinished()) === 0;
    await waitFor('all jobs are at their end', isQuiet, { timeoutMs });
    return readRecords(this.database);
  }

  async check(options: Partial<Run> = {}): Promise<readonly Violation[]> {
    return checkRun({
      acknowledged: this.#acknowledged,
      ledger: this.ledger(),
      records: await readRecords(this.database),
      ...options,
    });
  }

  outputs(): string {
    return this.#processes
      .map(({ name, process }) => `--- ${name} ${String(process.pid)}\n${process.output()}`)
      .join('\n');
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map(({ process }) => process.destroy()));
    await this.#test.drop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #start(script: string, settings: Settings): Promise<SpawnedProcess> {
    const process = spawnProcess({
      script,
      env: {
        ...processSettings,
        DATABASE_URL: this.#test.url,
        CHAOS_LEDGER: this.#ledger,
        CHAOS_GATES: this.#gates,
        ...settings,
      },
    });
    const name = script === workerScript ? 'worker' : 'scheduler';
    this.#processes.push({ name, process });
    await process.waitForOutput(/"started"/, { timeoutMs: 60_000 });
    return process;
  }
}
