import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { currentProject } from './access.ts';
import { api } from './client.ts';
import { pollInterval, slowPollInterval } from './live.ts';
import { currentTimeMs } from '../ui/use-now.ts';

const hourMs = 3_600_000;

/** The spans that the charts offer, with the step that gives each 60 to 120 points. */
export const timeRanges = {
  '1h': { label: '1 h', spanMs: hourMs, step: '1m' },
  '6h': { label: '6 h', spanMs: 6 * hourMs, step: '5m' },
  '24h': { label: '24 h', spanMs: 24 * hourMs, step: '15m' },
  '7d': { label: '7 d', spanMs: 7 * 24 * hourMs, step: '2h' },
  '30d': { label: '30 d', spanMs: 30 * 24 * hourMs, step: '6h' },
} as const;

/** The name of a span. */
export type TimeRange = keyof typeof timeRanges;

/** What is read about figures. */
export const statsQueries = {
  all: () => [currentProject(), 'stats'] as const,
  overview: () =>
    queryOptions({
      queryKey: [...statsQueries.all(), 'overview'] as const,
      queryFn: ({ signal }) => api.getOverview({ params: { project: currentProject() }, signal }),
      refetchInterval: pollInterval,
    }),
  timeseries: (range: TimeRange) =>
    queryOptions({
      queryKey: [...statsQueries.all(), 'timeseries', range] as const,
      queryFn: ({ signal }) => {
        const { spanMs, step } = timeRanges[range];
        const nowMs = currentTimeMs();
        return api.getTimeseries({
          params: { project: currentProject() },
          query: {
            from: new Date(nowMs - spanMs).toISOString(),
            to: new Date(nowMs).toISOString(),
            step,
          },
          signal,
        });
      },
      refetchInterval: range === '1h' ? pollInterval : slowPollInterval,
      placeholderData: keepPreviousData,
    }),
};
