import { needs, projectBase, route } from '../route.ts';
import {
  DeadLetterGroup,
  DeadLetterGroupsQuery,
  DeadLettersQuery,
} from '../schemas/dead-letters.ts';
import { JobSummary } from '../schemas/jobs.ts';
import { list, page } from '../schemas/paging.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Dead letters';

/** Jobs that failed for the last time. */
export const deadLetterRoutes = {
  listDeadLetters: route({
    method: 'get',
    path: `${projectBase}/dead-letters`,
    tag,
    summary: 'Dead letters, newest first',
    access: needs('project.read'),
    params: ProjectParams,
    query: DeadLettersQuery,
    statuses: [200],
    response: page(JobSummary),
  }),
  listDeadLetterGroups: route({
    method: 'get',
    path: `${projectBase}/dead-letters/groups`,
    tag,
    summary: 'Dead letters grouped by the fingerprint of their error, largest group first',
    access: needs('project.read'),
    params: ProjectParams,
    query: DeadLetterGroupsQuery,
    statuses: [200],
    response: list(DeadLetterGroup),
  }),
} as const;
