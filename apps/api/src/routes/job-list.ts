import type { JobsQuery, RouteName } from '@holdfast/contract';
import { listJobs, lookUpQueue } from '@holdfast/database';
import type { JobListRequest, JobSummaryRow } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { HttpProblem } from '../http/problem.ts';
import { scanJson } from '../http/scan-json.ts';
import { pageOf } from '../http/page.ts';
import { presentJobSummary } from '../presenters/job.ts';

/** Finding jobs. */
export function jobListHandlers(deps: Dependencies): Handlers<Extract<RouteName, 'listJobs'>> {
  const { database, cursors } = deps;
  return {
    async listJobs({ project, query }) {
      const { limit, cursor, ...filter } = query;
      const scope = { list: 'jobs', projectId: project.id, filter };
      const [beforeId] = cursors.read(scope, cursor) ?? [];
      const queueId = await queueIdOf(deps, project.id, filter.queue);
      if (queueId === 'unknown') return { body: { data: [], nextCursor: null } };
      const projectId = project.id;
      const request = { ...filterOf(filter), projectId, queueId, beforeId, limit: limit + 1 };
      const rows = await listJobs(database, request);
      const position = (row: JobSummaryRow) => cursors.write(scope, [row.id]);
      return { body: pageOf(rows, limit, { present: presentJobSummary, position }) };
    },
  };
}

/** The id of a queue to filter by: `undefined` without a filter, `unknown` when nothing can match. */
export async function queueIdOf(
  { database }: Dependencies,
  projectId: string,
  name: string | undefined,
): Promise<string | undefined> {
  if (name === undefined) return undefined;
  return (await lookUpQueue(database, { projectId, name })) ?? 'unknown';
}

type Filter = Omit<JobsQuery, 'limit' | 'cursor'>;

function filterOf(filter: Filter): Omit<JobListRequest, 'projectId' | 'limit'> {
  const { payload } = filter;
  const isObject = payload !== undefined && isJsonObject(payload);
  return {
    statuses: filter.status,
    type: filter.type,
    tag: filter.tag,
    batchId: filter.batch,
    uniqueKey: filter.key,
    createdAfter: inUtc(filter.createdAfter),
    createdBefore: inUtc(filter.createdBefore),
    payloadContains: isObject ? payload : undefined,
    payloadText: isObject ? undefined : payload,
  };
}

// RFC 3339 has offsets of nearly a day, of which PostgreSQL takes none above 15:59.
function inUtc(instant: string | undefined): string | undefined {
  return instant === undefined ? undefined : new Date(instant).toISOString();
}

/**
 * Whether the text is an object, to be contained in payloads.
 *
 * @throws HttpProblem for an object that no payload can have
 */
function isJsonObject(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    JSON.parse(text);
  } catch {
    return false;
  }
  refuseUnstorable(text);
  return true;
}

function refuseUnstorable(json: string): void {
  try {
    scanJson(json);
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const errors = error.options.errors?.map((one) => ({ ...one, pointer: '?payload' })) ?? [];
    throw new HttpProblem(error.code, { ...error.options, errors });
  }
}
