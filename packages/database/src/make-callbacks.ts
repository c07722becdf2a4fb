import { uuidV7 } from '@holdfast/domain';
import type { CallbackRole } from '@holdfast/domain';
import type { Advance } from './advance-batches.ts';
import { plainArray } from './array-literal.ts';
import { enqueueJobs } from './enqueue.ts';
import type { Enqueued, NewJob } from './enqueue.ts';
import { statements } from './generated/statements.ts';
import { jobOfTemplate, readStoredTemplate } from './job-template.ts';
import type { Queryable } from './queryable.ts';
import { ensureQueuesWithin } from './queue-directory.ts';
import { readClock } from './server.ts';

/** A callback whose moment has come. */
export interface DueCallback {
  readonly batchId: string;
  readonly role: CallbackRole;
  readonly jobId: string;
  /** JSON text of the template. */
  readonly jobJson: string | null;
}

/** A callback that could not have the id that it was given, since another job has it. */
export interface RenamedCallback {
  readonly batchId: string;
  readonly role: CallbackRole;
  readonly takenId: string;
  /** The id that its job has instead. */
  readonly jobId: string;
}

/** Makes the jobs of callbacks, as parts of their batches. None of them has been made before. */
export async function makeCallbacks(
  tx: Queryable,
  work: Advance,
  due: readonly DueCallback[],
): Promise<void> {
  if (due.length === 0) return;
  const { projectId, wakes } = work;
  const jobs = due.map(({ batchId, jobId, jobJson }): NewJob => {
    const template = readStoredTemplate(JSON.parse(jobJson ?? '{}'));
    return { ...jobOfTemplate(template, jobId), batchId };
  });
  const names = [...new Set(jobs.map(({ queue }) => queue))];
  const queues = work.queues ?? (await ensureQueuesWithin(tx, projectId, names));
  const enqueue = (each: readonly NewJob[]) => enqueueCallbacks(tx, { ...work, queues }, each);
  const { insertedIds } = await enqueue(jobs);
  const taken = jobs.filter(({ id }) => !insertedIds.has(id));
  const newIds = new Map<string, string>();
  const idOf = (id: string) => newIds.get(id) ?? id;
  if (taken.length > 0) {
    // Some libraries give a text.
    const nowMs = new Date(await readClock(tx)).getTime();
    for (const { id } of taken) newIds.set(id, uuidV7(nowMs));
    const ids = [plainArray([...newIds.keys()]), plainArray([...newIds.values()])];
    await tx.query(statements.renameCallbacks, [projectId, ...ids]);
    await enqueue(taken.map((job) => renamedJob(job, idOf(job.id))));
  }
  for (const { batchId, role, jobId: takenId } of due) {
    const jobId = newIds.get(takenId);
    if (jobId !== undefined) wakes.renamed.set(takenId, { batchId, role, takenId, jobId });
  }
  const ids = plainArray(jobs.map(({ id }) => idOf(id)));
  await tx.query(statements.markCallbacksEnqueued, [projectId, ids]);
}

/** Where the metadata of a callback's job says which id it was to have. */
const takenIdKey = 'holdfast.takenId';

function renamedJob(job: NewJob, id: string): NewJob {
  const { metadataJson = '{}' } = job;
  // A template's metadata is an object, or missing.
  const metadata = JSON.parse(metadataJson) as object;
  return { ...job, id, metadataJson: JSON.stringify({ ...metadata, [takenIdKey]: job.id }) };
}

async function enqueueCallbacks(
  tx: Queryable,
  { database, projectId, queues, wakes }: Advance,
  jobs: readonly NewJob[],
): Promise<Enqueued> {
  const enqueued = await enqueueJobs(database, { projectId, jobs, tx, queues, mayRepeat: true });
  for (const id of enqueued.queueIds) wakes.queueIds.add(id);
  wakes.scheduled ||= enqueued.scheduled;
  return enqueued;
}
