import { needs, projectBase, route } from '../route.ts';
import { Overview, Timeseries, TimeseriesQuery } from '../schemas/stats.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Statistics';

/** Figures for people. */
export const statsRoutes = {
  getOverview: route({
    method: 'get',
    path: `${projectBase}/stats/overview`,
    tag,
    summary: 'Sizes, rates, workers, and what needs a person',
    access: needs('project.read'),
    params: ProjectParams,
    statuses: [200],
    response: Overview,
  }),
  getTimeseries: route({
    method: 'get',
    path: `${projectBase}/stats/timeseries`,
    tag,
    summary: 'Figures over time, of the project or one queue',
    access: needs('project.read'),
    params: ProjectParams,
    query: TimeseriesQuery,
    statuses: [200],
    response: Timeseries,
  }),
} as const;
