import type { JobFilter } from '../../api/jobs.ts';
import type { JobsSearch } from './jobs-search.ts';

const minuteMs = 60_000;

const spanMs: Record<NonNullable<JobsSearch['since']>, number> = {
  '15m': 15 * minuteMs,
  '1h': 60 * minuteMs,
  '24h': 24 * 60 * minuteMs,
  '7d': 7 * 24 * 60 * minuteMs,
};

/** How many jobs one page shows. */
export const pageSize = 50;

/**
 * The filters of the URL as the API takes them. A span such as "the last hour" is counted from the current minute, so
 * that the query stays the same for that long.
 */
export function jobFilter(search: JobsSearch, nowMs: number): JobFilter {
  const minute = Math.floor(nowMs / minuteMs) * minuteMs;
  const after =
    search.since === undefined
      ? search.after
      : new Date(minute - spanMs[search.since]).toISOString();
  return {
    status: search.status === undefined ? undefined : [...search.status],
    queue: search.queue,
    type: search.type,
    tag: search.tag,
    payload: search.text,
    createdAfter: after,
    createdBefore: search.since === undefined ? search.before : undefined,
    cursor: search.cursor,
    limit: pageSize,
  };
}

/** Whether any filter is set. */
export function isFiltered(search: JobsSearch): boolean {
  const { cursor: _cursor, dialog: _dialog, ...filters } = search;
  return Object.keys(filters).length > 0;
}
