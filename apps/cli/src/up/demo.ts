import { ApiError, createApiClient } from '@holdfast/contract';
import { systemClock } from '@holdfast/runtime';
import type { ApiClient, JobSummary } from '@holdfast/contract';
import type { DemoPlan, PlannedJob } from './demo-plan.ts';

/** A job of the demo that has been enqueued. */
interface EnqueuedDemoJob {
  readonly id: string;
  readonly planned: PlannedJob;
}

/** The demo's jobs, on their way. */
export interface RunningDemo {
  readonly client: ApiClient;
  readonly jobs: readonly EnqueuedDemoJob[];
  readonly startedAt: Date;
}

/** How the jobs of one entry of the plan ended. */
export interface DemoResult {
  readonly label: string;
  readonly jobCount: number;
  readonly isAsPlanned: boolean;
  /** For people: the end that was planned, or what happened instead. */
  readonly outcome: string;
}

const params = { project: 'default' };
const pollEveryMs = 250;

/**
 * Signs in with a one-time ticket and enqueues the jobs of the plan; schedules that exist already stay as they are. In a
 * database that is shared and has them, the first job of the plan is enough.
 */
export async function startDemo(options: {
  readonly plan: DemoPlan;
  readonly baseUrl: string;
  readonly ticket: string;
  readonly isShared: boolean;
}): Promise<RunningDemo> {
  const { plan, baseUrl, ticket, isShared } = options;
  const { accessToken } = await createApiClient({ baseUrl }).redeemTicket({ body: { ticket } });
  const client = createApiClient({ baseUrl, getAccessToken: () => accessToken });
  let madeCount = 0;
  for (const schedule of plan.schedules) {
    if (await createSchedule(client, schedule)) madeCount += 1;
  }
  const all = plan.jobs.flatMap((entry) => Array.from({ length: entry.repeat }, () => entry));
  const planned = isShared && madeCount === 0 ? all.slice(0, 1) : all;
  // A little earlier than the database's clock could be behind ours.
  const startedAt = new Date(systemClock.nowMs() - 60_000);
  const { data } = await client.enqueueJobs({
    params,
    body: { jobs: planned.map((entry) => entry.job) },
  });
  return {
    client,
    startedAt,
    jobs: data.flatMap(({ id }, index) => {
      const entry = planned[index];
      return entry === undefined ? [] : [{ id, planned: entry }];
    }),
  };
}

/** False when there is one of its name already. */
async function createSchedule(
  client: ApiClient,
  schedule: DemoPlan['schedules'][number],
): Promise<boolean> {
  try {
    await client.createSchedule({ params, body: schedule });
    return true;
  } catch (error) {
    const isThereAlready = error instanceof ApiError && error.status === 409;
    if (!isThereAlready) throw error;
    return false;
  }
}

/** Waits until every job has ended, or the time is over, and compares with the plan. */
export async function finishDemo(
  demo: RunningDemo,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<readonly DemoResult[]> {
  const deadlineMs = systemClock.monotonicMs() + timeoutMs;
  for (;;) {
    const ends = await readEnds(demo);
    const hasEnded = ({ id }: EnqueuedDemoJob): boolean => ends.get(id)?.finishedAt != null;
    const isOver = systemClock.monotonicMs() >= deadlineMs || signal.aborted;
    if (demo.jobs.every(hasEnded) || isOver) return compare(demo.jobs, ends);
    await systemClock.sleep(pollEveryMs, signal);
  }
}

async function readEnds({ client, startedAt }: RunningDemo): Promise<Map<string, JobSummary>> {
  const found = new Map<string, JobSummary>();
  let cursor: string | undefined;
  do {
    const page = await client.listJobs({
      params,
      query: {
        tag: 'demo',
        createdAfter: startedAt.toISOString(),
        limit: 200,
        ...(cursor === undefined ? {} : { cursor }),
      },
    });
    for (const job of page.data) found.set(job.id, job);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

function compare(
  jobs: readonly EnqueuedDemoJob[],
  ends: ReadonlyMap<string, JobSummary>,
): readonly DemoResult[] {
  return [...idsByPlan(jobs)].map(([planned, ids]) => {
    const { status, attempts } = planned.expect;
    const wrong = ids
      .map((id) => ends.get(id))
      .filter((job) => job?.status !== status || job.attempt !== attempts);
    return {
      label: planned.label,
      jobCount: ids.length,
      isAsPlanned: wrong.length === 0,
      outcome: wrong.length === 0 ? describe(planned.expect) : describeWrong(planned, wrong),
    };
  });
}

function idsByPlan(jobs: readonly EnqueuedDemoJob[]): ReadonlyMap<PlannedJob, readonly string[]> {
  const groups = new Map<PlannedJob, string[]>();
  for (const { id, planned } of jobs) groups.set(planned, [...(groups.get(planned) ?? []), id]);
  return groups;
}

function describe({ status, attempts }: PlannedJob['expect']): string {
  return `${status} after ${String(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`;
}

function describeWrong({ expect }: PlannedJob, wrong: readonly (JobSummary | undefined)[]): string {
  const [first] = wrong;
  const found =
    first === undefined
      ? 'not found'
      : describe({ status: first.status, attempts: first.attempt }) +
        (first.lastError === null ? '' : ` (${first.lastError.message})`);
  return `planned: ${describe(expect)}; ${String(wrong.length)} other, such as: ${found}`;
}
