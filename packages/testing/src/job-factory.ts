import { randomUUID } from 'node:crypto';
import {
  cancelJob,
  claimJobs,
  enqueueJobs,
  findProject,
  finishJobs,
  reapExpiredLeases,
  resolveQueues,
  runJobNow,
  startJobs,
} from '@holdfast/database';
import { claimName, uuidV7 } from '@holdfast/domain';
import type { Database, Lease, NewJob } from '@holdfast/database';
import type { AttemptError, Decision, JobStatus } from '@holdfast/domain';

/** What is special about a job that a test wants; the rest has defaults. */
export interface JobRecipe extends Partial<Omit<NewJob, 'queue' | 'runAt'>> {
  /** Default: a queue of the job's own, so that no claim of the factory takes another job. */
  readonly queue?: string;
  /** Of a claimed or running job; 0 or less makes a lease that has expired already. Default one hour. */
  readonly leaseMs?: number;
  /** How many workers it has taken down before; made by as many expired leases. */
  readonly crashCount?: number;
  /** Of a completed job. */
  readonly resultJson?: string;
  /** Why a failed or dead job ended. */
  readonly error?: AttemptError;
}

/** A job as the factory left it. */
export interface MadeJob {
  readonly projectId: string;
  readonly id: string;
  readonly queue: string;
  readonly queueId: string;
  readonly type: string;
  /** What its type and the version of its payload are claimed by. */
  readonly claimName: string;
  readonly workerId: string;
  /** The newest claim's, whether or not it still holds; `undefined` for a job that was never claimed. */
  readonly lease: Lease | undefined;
  readonly executionSeq: number;
}

/** Makes jobs of each status, through the statements that bring real jobs there. */
export interface JobFactory {
  readonly projectId: string;
  make(status: JobStatus, recipe?: JobRecipe): Promise<MadeJob>;
  queued(recipe?: JobRecipe): Promise<MadeJob>;
  /** Due in one hour unless the recipe says otherwise. */
  scheduled(recipe?: JobRecipe): Promise<MadeJob>;
  claimed(recipe?: JobRecipe): Promise<LeasedJob>;
  running(recipe?: JobRecipe): Promise<LeasedJob>;
  completed(recipe?: JobRecipe): Promise<MadeJob>;
  failed(recipe?: JobRecipe): Promise<MadeJob>;
  deadLetter(recipe?: JobRecipe): Promise<MadeJob>;
  cancelled(recipe?: JobRecipe): Promise<MadeJob>;
}

/** A job that a worker holds. */
export interface LeasedJob extends MadeJob {
  readonly lease: Lease;
}

const hourMs = 3_600_000;
const defaultError: AttemptError = {
  code: 'handler_failed',
  message: 'The test wanted a failure',
  fingerprint: 'test:handler_failed',
};

/**
 * Makes a factory for the project `default`. A recipe with `crashCount` runs the reaper, which takes every expired
 * lease of the database.
 */
export async function createJobFactory(database: Database): Promise<JobFactory> {
  const project = await findProject(database, 'default');
  if (project === undefined) throw new Error('The database has no project named default');
  return new StatementFactory(database, project.id);
}

class StatementFactory implements JobFactory {
  readonly projectId: string;
  readonly #database: Database;

  constructor(database: Database, projectId: string) {
    this.#database = database;
    this.projectId = projectId;
  }

  make(status: JobStatus, recipe: JobRecipe = {}): Promise<MadeJob> {
    const makers: Record<JobStatus, () => Promise<MadeJob>> = {
      queued: () => this.queued(recipe),
      scheduled: () => this.scheduled(recipe),
      claimed: () => this.claimed(recipe),
      running: () => this.running(recipe),
      completed: () => this.completed(recipe),
      failed: () => this.failed(recipe),
      dead_letter: () => this.deadLetter(recipe),
      cancelled: () => this.cancelled(recipe),
    };
    return makers[status]();
  }

  async queued(recipe: JobRecipe = {}): Promise<MadeJob> {
    const job = await this.#enqueue({ ...recipe, delayMs: undefined });
    return this.#crash(job, recipe.crashCount ?? 0);
  }

  async scheduled(recipe: JobRecipe = {}): Promise<MadeJob> {
    const { crashCount = 0, delayMs = hourMs } = recipe;
    if (crashCount === 0) return this.#enqueue({ ...recipe, delayMs });
    const job = await this.running(recipe);
    await this.#finish(job, { transition: 'retry_jobs', executionStatus: 'failed', delayMs });
    return job;
  }

  async claimed(recipe: JobRecipe = {}): Promise<LeasedJob> {
    const { leaseMs = hourMs, crashCount = 0 } = recipe;
    return this.#claim(await this.queued(recipe), { leaseMs, suspect: crashCount > 0 });
  }

  async running(recipe: JobRecipe = {}): Promise<LeasedJob> {
    const job = await this.claimed(recipe);
    await this.#start(job);
    return job;
  }

  async completed(recipe: JobRecipe = {}): Promise<MadeJob> {
    const job = await this.running(recipe);
    const { resultJson } = recipe;
    await this.#finish(job, {
      transition: 'complete_jobs',
      executionStatus: 'completed',
      resultJson,
    });
    return job;
  }

  async failed(recipe: JobRecipe = {}): Promise<MadeJob> {
    return this.#fail('fail_jobs', { reason: 'manual_retry', recipe });
  }

  async deadLetter(recipe: JobRecipe = {}): Promise<MadeJob> {
    return this.#fail('dead_letter_jobs', { reason: 'attempts_exhausted', recipe });
  }

  async cancelled(recipe: JobRecipe = {}): Promise<MadeJob> {
    const job = await this.queued(recipe);
    const key = { projectId: job.projectId, id: job.id };
    const result = await cancelJob(this.#database, { ...key, reason: 'cancelled' });
    insist(result.cancelled, 'cancelled', job);
    return job;
  }

  async #enqueue(recipe: JobRecipe): Promise<MadeJob> {
    const { projectId } = this;
    const id = recipe.id ?? uuidV7(Date.now());
    const { queue = `queue-${id}`, type = 'test.job', payloadJson = '{}' } = recipe;
    const job: NewJob = { ...recipe, id, queue, type, payloadJson };
    const { insertedIds } = await enqueueJobs(this.#database, { projectId, jobs: [job] });
    const queueId = (await resolveQueues(this.#database, projectId, [queue])).get(queue)?.id ?? '';
    const claimedBy = claimName(type, recipe.payloadVersion ?? 1);
    const made = { projectId, id, queue, queueId, type, workerId: randomUUID() };
    insist(insertedIds.has(id), 'enqueued', made);
    return { ...made, claimName: claimedBy, lease: undefined, executionSeq: 0 };
  }

  async #claim(
    job: MadeJob,
    how: { readonly leaseMs: number; readonly suspect: boolean },
  ): Promise<LeasedJob> {
    const token = randomUUID();
    const lane = this.#database.openLane('claims');
    const claimed = await claimJobs(lane, {
      projectId: job.projectId,
      workerId: job.workerId,
      leaseToken: token,
      leaseMs: how.leaseMs,
      types: [job.claimName],
      limit: how.suspect ? 0 : 1,
      suspectLimit: how.suspect ? 1 : 0,
      lanes: allPriorities(job.queueId),
    }).finally(() => lane.close());
    const own = claimed.find(({ id }) => id === job.id);
    insist(own !== undefined, 'claimed', job);
    return { ...job, lease: { id: job.id, token }, executionSeq: own.executionSeq };
  }

  async #start(job: LeasedJob): Promise<void> {
    const { projectId, lease } = job;
    const started = [{ ...lease, startedAgoMs: 0 }];
    const ids = await startJobs(this.#database, { projectId, started });
    insist(ids.has(job.id), 'started', job);
  }

  async #fail(
    transition: 'fail_jobs' | 'dead_letter_jobs',
    how: { readonly reason: string; readonly recipe: JobRecipe },
  ): Promise<MadeJob> {
    const job = await this.running(how.recipe);
    const { error = defaultError } = how.recipe;
    await this.#finish(job, { transition, executionStatus: 'failed', reason: how.reason, error });
    return job;
  }

  async #finish(job: LeasedJob, decision: Decision): Promise<void> {
    const { lease, projectId, executionSeq } = job;
    const finished = { ...lease, executionSeq, startedAgoMs: 0, finishedAgoMs: 0, decision };
    const { transition } = decision;
    const ids = await finishJobs(this.#database, { projectId, transition, jobs: [finished] });
    insist(ids.has(job.id), `ended by ${transition}`, job);
  }

  /** Lets that many leases of the job expire, and leaves it queued. */
  async #crash(job: MadeJob, crashCount: number): Promise<MadeJob> {
    let made = job;
    for (let count = 0; count < crashCount; count += 1) {
      const claimed = await this.#claim(made, { leaseMs: 0, suspect: count > 0 });
      await this.#start(claimed);
      await reapExpiredLeases(this.#database, { leaseMs: 0, poisonCount: crashCount + 1 });
      // The second crash and those after it make the job wait.
      if (count > 0) await runJobNow(this.#database, { projectId: job.projectId, id: job.id });
      made = claimed;
    }
    return made;
  }
}

function allPriorities(queueId: string) {
  return Array.from({ length: 10 }, (_, priority) => ({ queueId, priority, afterSeq: '0' }));
}

function insist(holds: boolean, what: string, job: Pick<MadeJob, 'id' | 'queue'>): asserts holds {
  if (!holds) throw new Error(`The job ${job.id} in ${job.queue} could not be ${what}`);
}
