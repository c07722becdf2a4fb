import type { Overview } from '@holdfast/contract';
import { formatDurationMs } from '../../format/duration.ts';
import { formatCount, formatRate, formatShare, plural } from '../../format/number.ts';
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
      <Latency label="Wait p95" percentiles={rates.waitMs} />
      <Latency label="Run p95" percentiles={rates.runMs} />
      <Stat
        label="Dead letters"
        value={formatCount(counts.deadLetter)}
        note={`and ${plural(counts.failed, 'failed job')}`}
        {...(counts.deadLetter > 0 ? { tone: 'bad' as const } : {})}
      />
    </StatRow>
  );
}

interface LatencyProps {
  readonly label: string;
  readonly percentiles: Overview['rates']['waitMs'];
}

function Latency({ label, percentiles: { p50, p95 } }: LatencyProps) {
  return (
    <Stat
      label={label}
      value={p95 === null ? '–' : formatDurationMs(p95)}
      note={p50 === null ? 'none measured' : `p50 ${formatDurationMs(p50)}`}
    />
  );
}
