import type { Overview } from '@holdfast/contract';
import { formatDurationMs } from '../../format/duration.ts';
import { formatCount, formatRate, formatShare } from '../../format/number.ts';
import { Stat, StatRow } from '../../ui/stat.tsx';

/** From this share of failed attempts on the figure is coloured. */
const notableErrorRate = 0.05;

/** The numbers that a person looks at first. */
export function HeadFigures({ overview }: { readonly overview: Overview }) {
  const { counts, rates, queues } = overview;
  const oldestMs = Math.max(0, ...queues.map((queue) => queue.oldestWaitMs ?? 0));
  const errorRate = rates.errorRate ?? 0;
  const window = `last ${formatDurationMs(rates.windowMs)}`;
  return (
    <StatRow>
      <Stat
        label="Waiting"
        value={formatCount(counts.queued)}
        note={oldestMs > 0 ? `oldest ${formatDurationMs(oldestMs)}` : 'none is late'}
      />
      <Stat
        label="Running"
        value={formatCount(counts.running + counts.claimed)}
        note={`${formatCount(overview.workers.slots)} slots`}
      />
      <Stat label="Scheduled" value={formatCount(counts.scheduled)} note="later, or retrying" />
      <Stat
        label="Done per minute"
        value={formatRate(rates.completedPerMinute)}
        note={`${formatRate(rates.failedPerMinute)} failed`}
      />
      <Stat
        label="Error rate"
        value={rates.errorRate === null ? '–' : formatShare(errorRate)}
        note={window}
        {...(errorRate >= notableErrorRate ? { tone: 'bad' as const } : {})}
      />
      <Stat label="Wait p50 · p95" value={percentiles(rates.waitMs)} note="due until claimed" />
      <Stat label="Run p50 · p95" value={percentiles(rates.runMs)} note="started until finished" />
    </StatRow>
  );
}

function percentiles({ p50, p95 }: { readonly p50: number | null; readonly p95: number | null }) {
  if (p50 === null || p95 === null) return '–';
  return (
    <>
      {formatDurationMs(p50)} · {formatDurationMs(p95)}
    </>
  );
}
