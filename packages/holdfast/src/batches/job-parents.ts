import type { ParentOutput } from '@holdfast/database';
import { NonRetryableError } from '@holdfast/domain';
import type { JobStatus } from '@holdfast/domain';
import type { Stored } from '@holdfast/worker';
import type { JobDefinition, ResultOf } from '../job-definition.ts';

/** A job that another one waited for. */
export interface ParentJob {
  readonly id: string;
  readonly type: string;
  readonly status: JobStatus;
  /** What its handler gave, through JSON; `undefined` when it gave nothing or did not complete. */
  readonly result: unknown;
}

/** What the jobs that a job of a chain or graph waited for have left. Read when first asked for. */
export interface JobParents {
  /** All of them, in the order in which they were made. */
  readonly all: () => Promise<readonly ParentJob[]>;
  /**
   * The result of the only parent of a type, or, in a chain, of the link before.
   *
   * @throws NonRetryableError `parent_missing` when there is none, or more than one, that completed
   */
  readonly resultOf: <Job extends JobDefinition>(job: Job) => Promise<Stored<ResultOf<Job>>>;
  /** The results of all parents of a type that completed, in the order in which those were made. */
  readonly resultsOf: <Job extends JobDefinition>(
    job: Job,
  ) => Promise<readonly Stored<ResultOf<Job>>[]>;
}

/** The parents of one job, read at most once. */
export function jobParents(read: () => Promise<readonly ParentOutput[]>): JobParents {
  let reading: Promise<readonly ParentJob[]> | undefined;
  const all = (): Promise<readonly ParentJob[]> => {
    reading ??= read()
      .then((parents) => parents.map(toParentJob))
      .catch((error: unknown) => {
        // The next call reads again.
        reading = undefined;
        throw error;
      });
    return reading;
  };
  const resultsOf = async <Job extends JobDefinition>({ type }: Job) => {
    const own = (await all()).filter((parent) => parent.type === type);
    const completed = own.filter(({ status }) => status === 'completed');
    // As true as the definition's own word for what its handler gives.
    return completed.map(({ result }) => result as Stored<ResultOf<Job>>);
  };
  const resultOf = async <Job extends JobDefinition>(job: Job) => {
    const results = await resultsOf(job);
    const [result] = results;
    if (results.length === 1) return result as Stored<ResultOf<Job>>;
    const problem = `${String(results.length)} completed parents of the type "${job.type}"`;
    throw new NonRetryableError(`The job has ${problem}, not one`, { code: 'parent_missing' });
  };
  return { all, resultOf, resultsOf };
}

function toParentJob({ id, type, status, result }: ParentOutput): ParentJob {
  if (type !== undefined && status !== undefined) return { id, type, status, result };
  throw new NonRetryableError(`History no longer has the parent ${id}, nor its result`, {
    code: 'parent_result_gone',
  });
}
