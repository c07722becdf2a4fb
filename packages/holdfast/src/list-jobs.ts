import { isStatementTimeout, listJobs, lookUpQueue } from '@holdfast/database';
import type { Database, JobListRequest, JobSummaryRow } from '@holdfast/database';
import {
  HoldfastError,
  isName,
  isRecord,
  isStorableText,
  isTag,
  isUniqueKey,
  isUuid,
  jobStatuses,
  payloadJson,
} from '@holdfast/domain';
import type { JobStatus } from '@holdfast/domain';
import { OptionCheck } from './check-options.ts';
import type { Internals } from './internals.ts';
import { readQueue } from './job-fields.ts';
import { toJobSummary } from './job.ts';
import type { JobSummary } from './job.ts';
import { cutPage, readCursor, readPageLimit } from './list-page.ts';

/** Which jobs are listed: those for which all that is given holds. */
export interface ListJobsOptions {
  /** One status, or several of which a job has one. */
  readonly status?: JobStatus | readonly JobStatus[] | undefined;
  /** The name of a job type. */
  readonly type?: string | undefined;
  readonly queue?: string | undefined;
  /** A tag that the jobs have. */
  readonly tag?: string | undefined;
  /** The batch, chain or graph that they are members or callbacks of. */
  readonly batchId?: string | undefined;
  /** A unique key that they hold or held, in whichever scope. */
  readonly key?: string | undefined;
  /** They were made after this instant. */
  readonly createdAfter?: Date | undefined;
  /** They were made before this instant. */
  readonly createdBefore?: Date | undefined;
  /**
   * What their payloads contain: an object, for example `{ orderId: 7 }`, whose fields they have; or a text that is
   * somewhere in their JSON, of at most 500 characters. No index serves it, so filter by other things as well.
   */
  readonly payload?: Readonly<Record<string, unknown>> | string | undefined;
  /** At most 200; default 50. */
  readonly limit?: number | undefined;
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of jobs. */
export interface JobPage {
  readonly jobs: readonly JobSummary[];
  /** For the next page; `undefined` when there is none. */
  readonly nextCursor: string | undefined;
}

const names = [
  ...['status', 'type', 'queue', 'tag', 'batchId', 'key', 'createdAfter', 'createdBefore'],
  ...['payload', 'limit', 'cursor'],
];
const maxSearchLength = 500;

/**
 * Lists jobs, ended ones too, the newest first.
 *
 * @throws OptionsInvalidError; HoldfastError `query_too_slow`
 */
export async function listJobsOf(
  { connection }: Internals,
  options: ListJobsOptions,
): Promise<JobPage> {
  const { queue, limit, ...filter } = readOptions(options);
  return connection.useWithRetry(async ({ database, projectId }) => {
    const queueId =
      queue === undefined ? undefined : await lookUpQueue(database, { projectId, name: queue });
    if (queue !== undefined && queueId === undefined) return { jobs: [], nextCursor: undefined };
    // One more tells whether there is a next page.
    const rows = await listInTime(database, { ...filter, projectId, queueId, limit: limit + 1 });
    const { page, nextCursor } = cutPage('jobs', rows, limit);
    return { jobs: page.map(toJobSummary), nextCursor };
  });
}

/** A list that took too long will do so again. */
async function listInTime(
  database: Database,
  request: JobListRequest,
): Promise<readonly JobSummaryRow[]> {
  try {
    return await listJobs(database, request);
  } catch (error) {
    if (!isStatementTimeout(error)) throw error;
    const message = 'The database did not find the jobs in time: narrow the filter';
    throw new HoldfastError(message, { code: 'query_too_slow', cause: error });
  }
}

function readOptions(options: ListJobsOptions) {
  const check = new OptionCheck('list');
  if (!check.names(options, names)) check.done();
  const { type, tag, batchId, cursor } = options;
  if (type !== undefined && !isText(type, isName)) check.refuse('type must be the name of a type');
  if (tag !== undefined && !isText(tag, isTag)) check.refuse('tag must be one tag');
  if (batchId !== undefined && !isText(batchId, isUuid)) {
    check.refuse('batchId must be a UUID in lower case');
  }
  const beforeId = readCursor(check, 'jobs', cursor);
  const limit = readPageLimit(check, options.limit);
  const statuses = readStatuses(check, options.status);
  const queue = readQueue(check, options.queue);
  const uniqueKey = options.key;
  if (uniqueKey !== undefined && !isText(uniqueKey, isUniqueKey)) {
    check.refuse('key must be a unique key, of at most 512 bytes');
  }
  const createdAfter = check.instant('createdAfter', options.createdAfter)?.toISOString();
  const createdBefore = check.instant('createdBefore', options.createdBefore)?.toISOString();
  const search = readSearch(check, options.payload);
  check.done();
  return {
    ...{ queue, limit, statuses, type, tag, batchId, beforeId },
    ...{ uniqueKey, createdAfter, createdBefore, ...search },
  };
}

function readSearch(
  check: OptionCheck,
  search: unknown,
): Pick<JobListRequest, 'payloadContains' | 'payloadText'> {
  if (search === undefined) return {};
  if (typeof search === 'string') {
    const { length } = search;
    if (length >= 1 && length <= maxSearchLength && isStorableText(search))
      return { payloadText: search };
    check.refuse(
      `payload must be an object, or a text of 1 to ${String(maxSearchLength)} characters`,
    );
    return {};
  }
  try {
    if (isRecord(search)) return { payloadContains: payloadJson(search, { type: 'list' }).json };
    check.refuse('payload must be an object or a text');
  } catch {
    check.refuse('payload must be an object that a payload can contain');
  }
  return {};
}

function readStatuses(
  check: OptionCheck,
  status: ListJobsOptions['status'],
): readonly JobStatus[] | undefined {
  if (status === undefined) return undefined;
  // Array.isArray does not tell a readonly array from the rest.
  const statuses = (Array.isArray(status) ? status : [status]) as readonly JobStatus[];
  if (statuses.length === 0) check.refuse('status must name a status, or be left out for all');
  // An `undefined` among them is a mistake, and not a status that was not said.
  if ((statuses as readonly unknown[]).includes(undefined)) {
    check.refuse('status must not have undefined among its statuses');
  }
  for (const each of statuses) check.oneOf('status', each, jobStatuses);
  return statuses;
}

/** Callers in plain JavaScript hand in what they have. */
function isText(value: unknown, hasForm: (text: string) => boolean): boolean {
  return typeof value === 'string' && hasForm(value);
}
