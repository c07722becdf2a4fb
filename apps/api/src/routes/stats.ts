import type { RouteName, Timeseries } from '@holdfast/contract';
import { readClock, readTimeseries } from '@holdfast/database';
import type { TimeseriesRow } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { errorRateOf, readOverview } from '../overview.ts';
import { percentilesOf, readBuckets } from '../presenters/percentiles.ts';
import { shareAnswers } from '../shared-answers.ts';
import { queueIdOf } from './job-list.ts';

type StatsRoute = Extract<RouteName, 'getOverview' | 'getTimeseries'>;

const minuteMs = 60_000;
const hourMs = 3_600_000;
const longestRangeMs = 31 * 24 * hourMs;
const mostPoints = 1_500;

/** Figures for people; the overview is shared by all who look at it. */
export function statsHandlers(deps: Dependencies): Handlers<StatsRoute> {
  const { database, clock } = deps;
  const overviews = shareAnswers((projectId) => readOverview(database, projectId), clock);
  return {
    async getOverview({ project }) {
      return { body: await overviews.get(project.id) };
    },

    async getTimeseries({ project, query }) {
      const queueId = await queueIdOf(deps, project.id, query.queue);
      if (queueId === 'unknown') throw new HttpProblem('queue_not_found');
      const range = rangeOf(query, await readClock(database));
      const rows = await readTimeseries(database, { projectId: project.id, queueId, ...range });
      return { body: fill(range, rows) };
    },
  };
}

interface Range {
  readonly from: Date;
  readonly to: Date;
  readonly stepMs: number;
}

function rangeOf(
  query: {
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly step?: number | undefined;
  },
  now: Date,
): Range {
  const stepMs = Math.ceil((query.step ?? minuteMs) / minuteMs) * minuteMs;
  const toMs = query.to === undefined ? now.getTime() : new Date(query.to).getTime();
  const fromMs = query.from === undefined ? toMs - hourMs : new Date(query.from).getTime();
  if (fromMs >= toMs) throw validationFailed([{ pointer: '?from', detail: 'must be before to' }]);
  if (toMs - fromMs > longestRangeMs) {
    throw validationFailed([{ pointer: '?from', detail: 'must be at most 31 days before to' }]);
  }
  if ((toMs - fromMs) / stepMs > mostPoints) {
    const detail = `must be longer: the range has more than ${String(mostPoints)} steps`;
    throw validationFailed([{ pointer: '?step', detail }]);
  }
  // Whole steps, so that the points do not move while one looks.
  const from = new Date(Math.floor(fromMs / stepMs) * stepMs);
  return { from, to: new Date(Math.ceil(toMs / stepMs) * stepMs), stepMs };
}

function fill({ from, to, stepMs }: Range, rows: readonly TimeseriesRow[]): Timeseries {
  const rowAt = new Map(rows.map((row) => [row.at.getTime(), row]));
  const count = Math.round((to.getTime() - from.getTime()) / stepMs);
  const points = Array.from({ length: count }, (_, index) => {
    const atMs = from.getTime() + index * stepMs;
    return presentPoint(new Date(atMs), rowAt.get(atMs));
  });
  return { from: from.toISOString(), to: to.toISOString(), stepMs, points };
}

const nothing: Omit<TimeseriesRow, 'at'> = {
  completed: 0,
  failed: 0,
  dead_lettered: 0,
  cancelled: 0,
  wait_buckets: null,
  run_buckets: null,
};

function presentPoint(at: Date, row = nothing): Timeseries['points'][number] {
  return {
    at: at.toISOString(),
    completed: row.completed,
    failed: row.failed,
    deadLettered: row.dead_lettered,
    cancelled: row.cancelled,
    errorRate: errorRateOf(row),
    waitMs: percentilesOf(readBuckets(row.wait_buckets)),
    runMs: percentilesOf(readBuckets(row.run_buckets)),
  };
}
