import { UniqueKeyHeldError, completeUnique } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { draftsOf, statusesOf } from '../batches/prepare-batch.ts';
import type { PreparedBatch } from '../batches/prepare-batch.ts';
import type { EnqueueResult } from '../enqueue-result.ts';
import type { CheckedDraft } from '../job-draft.ts';
import type { JobFields } from '../job-fields.ts';
import { fieldsOf, queueOf } from '../job-writer.ts';
import type { EnqueuedJob } from './enqueued-job.ts';

/** A job that a fake was given. */
export interface FakeJob extends EnqueuedJob {
  /** The transaction that was given. */
  readonly tx: unknown;
}

/** A batch, chain or graph that a fake was given. */
export interface FakeBatch {
  readonly id: string;
  readonly kind: PreparedBatch['kind'];
  readonly name: string | undefined;
  /** Its jobs, in the order in which they were given; those of inner batches are in `batches`. */
  readonly jobs: readonly FakeJob[];
  readonly batches: readonly FakeBatch[];
  /** What its callbacks would be when their moment comes. */
  readonly callbacks: readonly (FakeJob & {
    readonly role: PreparedBatch['callbacks'][number]['role'];
    /** Of a progress callback: the share of ended members that calls for it. */
    readonly percent: number | undefined;
  })[];
  /** The transaction that was given. */
  readonly tx: unknown;
}

const defaultPriority = 5;

/** The jobs that a fake keeps. Nothing runs, so each of them holds its unique key for good. */
export class FakeJobs {
  readonly #jobs: FakeJob[] = [];
  readonly #batches: FakeBatch[] = [];
  /** The places of holders, by scope and key. */
  readonly #holders = new Map<string, number>();

  get jobs(): readonly FakeJob[] {
    return this.#jobs;
  }

  get batches(): readonly FakeBatch[] {
    return this.#batches;
  }

  /** Adds jobs one by one. */
  addAll(drafts: readonly CheckedDraft[], tx: unknown): readonly EnqueueResult[] {
    return drafts.map((draft) => this.add(draft, tx));
  }

  /** Adds a job, or does with the one that has its id or its unique key what the real one would. */
  add(draft: CheckedDraft, tx: unknown): EnqueueResult {
    const { id } = draft.draft.options;
    const same = this.#jobs.find((job) => job.id === id);
    if (same !== undefined) return { id, status: same.status, deduplicated: true };
    const job = fakeJob(draft, { tx });
    const key = uniqueNameOf(draft);
    const place = key === undefined ? undefined : this.#holders.get(key);
    const holder = place === undefined ? undefined : this.#jobs[place];
    if (place !== undefined && holder !== undefined) {
      return this.#conflict(draft, { job, holder, place });
    }
    if (key !== undefined) this.#holders.set(key, this.#jobs.length);
    this.#jobs.push(job);
    return { id, status: job.status, deduplicated: false };
  }

  /** Adds a batch with its jobs. */
  addBatch(prepared: PreparedBatch, tx: unknown): void {
    const statuses = statusesOf(prepared);
    const made = new Map<string, FakeJob>();
    for (const draft of draftsOf(prepared)) {
      const { id } = draft.draft.options;
      made.set(id, fakeJob(draft, { tx, status: statuses.get(id) ?? 'scheduled' }));
    }
    this.#batches.push(this.#toBatch(prepared, made, tx));
  }

  #toBatch(prepared: PreparedBatch, made: ReadonlyMap<string, FakeJob>, tx: unknown): FakeBatch {
    const { id, kind, name } = prepared;
    const waiting = new Set(prepared.edges.map(({ child }) => child));
    const find = ({ draft }: CheckedDraft): readonly FakeJob[] => {
      const job = made.get(draft.options.id);
      return job === undefined ? [] : [{ ...job, batchId: id }];
    };
    const jobs = prepared.jobs.flatMap((draft, index) =>
      find(draft).map((job) =>
        waiting.has(index) ? { ...job, runAt: undefined, delayMs: undefined } : job,
      ),
    );
    this.#jobs.push(...jobs);
    const callbacks = prepared.callbacks.flatMap(({ role, percent, draft }) =>
      find(draft).map((job) => ({ ...job, role, percent })),
    );
    const batches = prepared.batches.map((inner) => this.#toBatch(inner, made, tx));
    return { id, kind, name, jobs, batches, callbacks, tx };
  }

  #conflict(
    draft: CheckedDraft,
    found: { readonly job: FakeJob; readonly holder: FakeJob; readonly place: number },
  ): EnqueueResult {
    const { holder, job, place } = found;
    const { id, status } = holder;
    const unique = fieldsOf(draft).unique;
    switch (unique?.onConflict) {
      case 'reject':
        throw new UniqueKeyHeldError(unique.key, id);
      // A holder that has not started gets the newest payload in all of these modes.
      case 'replace':
      case 'queue_latest':
      case 'debounce': {
        const { payload, payloadVersion, priority, tags, metadata } = job;
        this.#jobs[place] = { ...holder, payload, payloadVersion, priority, tags, metadata };
        const conflict = unique.onConflict === 'debounce' ? 'debounced' : 'replaced';
        return { id, status, deduplicated: true, conflict };
      }
      default:
        return { id, status, deduplicated: true, conflict: 'kept' };
    }
  }
}

function uniqueNameOf(draft: CheckedDraft): string | undefined {
  const { unique } = fieldsOf(draft);
  if (unique === undefined) return undefined;
  const { scope, key } = completeUnique(unique);
  const owners = { type: draft.draft.type, queue: queueOf(draft), project: '' };
  return JSON.stringify([scope, owners[scope], key]);
}

function fakeJob(
  draft: CheckedDraft,
  more: { readonly tx: unknown; readonly status?: 'queued' | 'scheduled' },
): FakeJob {
  const fields = fieldsOf(draft);
  const nowMs = systemClock.nowMs();
  const delayMs = delayOf(fields, nowMs);
  return {
    id: draft.draft.options.id,
    type: draft.draft.type,
    queue: queueOf(draft),
    status: more.status ?? (delayMs > 0 ? 'scheduled' : 'queued'),
    payload: JSON.parse(draft.payloadJson),
    payloadVersion: fields.payloadVersion ?? 1,
    priority: fields.priority ?? defaultPriority,
    tags: fields.tags ?? [],
    metadata: fields.metadataJson === undefined ? {} : readObject(fields.metadataJson),
    ...{ runAt: new Date(nowMs + delayMs), delayMs, tx: more.tx },
    uniqueKey: fields.unique?.key,
    batchId: undefined,
  };
}

function delayOf({ delayMs, runAt, unique }: JobFields, nowMs: number): number {
  if (delayMs !== undefined) return delayMs;
  if (unique?.onConflict === 'debounce') return unique.waitMs ?? 0;
  return runAt === undefined ? 0 : runAt.getTime() - nowMs;
}

/** Metadata is always an object. */
function readObject(json: string): Readonly<Record<string, unknown>> {
  return JSON.parse(json) as Readonly<Record<string, unknown>>;
}
