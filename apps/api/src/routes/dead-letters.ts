import type { RouteName } from '@holdfast/contract';
import { listDeadLetterGroups, listDeadLetters } from '@holdfast/database';
import type { DeadLetterGroupRow, DeadLetterRow } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { pageOf } from '../http/page.ts';
import { presentInstant } from '../presenters/instant.ts';
import { presentJobSummary } from '../presenters/job.ts';
import { queueIdOf } from './job-list.ts';

type DeadLetterRoute = Extract<RouteName, 'listDeadLetters' | 'listDeadLetterGroups'>;

const mostGroups = 200;

/** Jobs that failed for the last time, one by one and in groups. */
export function deadLetterHandlers(deps: Dependencies): Handlers<DeadLetterRoute> {
  const { database, cursors } = deps;
  return {
    async listDeadLetters({ project, query }) {
      const { limit, cursor, ...filter } = query;
      const scope = { list: 'dead-letters', projectId: project.id, filter };
      const [finishedAt, id] = cursors.read(scope, cursor) ?? [];
      const queueId = await queueIdOf(deps, project.id, filter.queue);
      if (queueId === 'unknown') return { body: { data: [], nextCursor: null } };
      const rows = await listDeadLetters(database, {
        projectId: project.id,
        queueId,
        type: filter.type,
        fingerprint: filter.fingerprint,
        before: finishedAt === undefined || id === undefined ? undefined : { finishedAt, id },
        limit: limit + 1,
      });
      const position = (row: DeadLetterRow) => cursors.write(scope, [row.finished_at_text, row.id]);
      return { body: pageOf(rows, limit, { present: presentJobSummary, position }) };
    },

    async listDeadLetterGroups({ project, query }) {
      const queueId = await queueIdOf(deps, project.id, query.queue);
      if (queueId === 'unknown') return { body: { data: [] } };
      const request = { projectId: project.id, queueId, type: query.type, limit: mostGroups };
      const rows = await listDeadLetterGroups(database, request);
      return { body: { data: rows.map(presentGroup) } };
    },
  };
}

function presentGroup(row: DeadLetterGroupRow) {
  return {
    fingerprint: row.fingerprint,
    type: row.type,
    queue: row.queue,
    code: row.code,
    message: row.message,
    count: row.job_count,
    firstSeenAt: presentInstant(row.first_seen_at),
    lastSeenAt: presentInstant(row.last_seen_at),
    sampleJobId: row.sample_job_id,
  };
}
