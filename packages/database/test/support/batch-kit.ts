import { createBatch, readBatch } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { statusOf } from './job-snapshot.ts';
import { runJobs } from './run-jobs.ts';
import type {
  BatchView,
  ClaimedJob,
  Database,
  NewBatch,
  NewCallback,
  NewDependency,
  NewJob,
} from '@holdfast/database';
import type { BatchKind, CallbackRole, JobStatus, OnParentFailure } from '@holdfast/domain';
import type { Ending } from './run-jobs.ts';

let kits = 0;

/** Batches whose jobs a test names itself. Each kit has job types of its own. */
export interface BatchKit {
  id(name: string): string;
  key(name?: string): { readonly projectId: string; readonly id: string };
  job(name: string, more?: Partial<NewJob>): NewJob;
  callback(role: CallbackRole, name?: string): NewCallback;
  edge(parent: string, child: string, onFailure?: OnParentFailure): NewDependency;
  make(kind: BatchKind, more: Partial<NewBatch>, name?: string): Promise<void>;
  /** Works what is due and settles in between; the named jobs die. Answers the names in the order in which they ran. */
  run(...dying: readonly string[]): Promise<readonly string[]>;
  /** Ends the named jobs, which must be due, without settling. */
  end(ending: Ending, ...names: readonly string[]): Promise<void>;
  read(name?: string): Promise<BatchView | undefined>;
  statusOf(name: string): Promise<JobStatus | 'absent'>;
}

/** Makes a kit; a batch without a name is called `self`. */
export function createBatchKit(database: Database, projectId: string): BatchKit {
  kits += 1;
  const kit = String(kits);
  const ids = new Map<string, string>();
  const typeOf = (name: string) => `${name}.kit${kit}`;
  const nameOf = (type: string) => type.split('.')[0] ?? '';
  const id = (name: string): string => {
    const known = ids.get(name) ?? uuidV7(Date.now());
    ids.set(name, known);
    return known;
  };
  const key = (name = 'self') => ({ projectId, id: id(name) });
  return {
    id,
    key,
    job: (name, more = {}) => ({
      ...{ id: id(name), queue: 'kit', type: typeOf(name), payloadJson: '{}' },
      ...more,
    }),
    callback: (role, name = role) => ({
      role,
      jobId: id(name),
      job: { type: typeOf(name), queue: 'kit', payload: { role } },
    }),
    edge: (parent, child, onFailure = 'cancel') => ({
      parentId: id(parent),
      childId: id(child),
      onFailure,
    }),
    async make(kind, more, name = 'self') {
      await createBatch(database, { projectId, batch: { id: id(name), kind, jobs: [], ...more } });
    },
    async run(...dying) {
      const ending = ({ type }: ClaimedJob): Ending =>
        dying.includes(nameOf(type)) ? 'die' : 'complete';
      const types = [...ids.keys()].map(typeOf);
      return (await runJobs(database, { projectId, types, ending })).map(nameOf);
    },
    async end(ending, ...names) {
      const types = names.map(typeOf);
      await runJobs(database, { projectId, types, ending: () => ending, settles: false });
    },
    read: (name) => readBatch(database, key(name)),
    statusOf: (name) => statusOf(database, key(name)),
  };
}
