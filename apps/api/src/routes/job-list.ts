import type { JobsQuery, RouteName } from '@holdfast/contract';
import { findQueue, listJobs } from '@holdfast/database';
import type { JobListRequest, JobSummaryRow } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
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
  return (await findQueue(database, { projectId, name }))?.id ?? 'unknown';
}

type Filter = Omit<JobsQuery, 'limit' | 'cursor'>;

function filterOf(filter: Filter): Omit<JobListRequest, 'projectId' | 'limit'> {
  const { payload } = filter;
  const isObject = payload !== undefined && isJsonObject(payload);
  return {
    statuses: filter.status,
    type: filter.type,
    tag: filter.tag,
    createdAfter: filter.createdAfter,
    createdBefore: filter.createdBefore,
    payloadContains: isObject ? payload : undefined,
    payloadText: isObject ? undefined : payload,
  };
}

function isJsonObject(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
