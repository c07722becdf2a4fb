import type { Overview } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import { formatDurationMs } from '../../format/duration.ts';
import { formatCount, formatRate } from '../../format/number.ts';
import { Badge } from '../../ui/badge.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState } from '../../ui/states.tsx';

type QueueFigures = Overview['queues'][number];

const columns: readonly Column<QueueFigures>[] = [
  {
    key: 'name',
    header: 'Queue',
    grow: true,
    cell: (queue) => (
      <Link to="/jobs" search={{ queue: queue.name }}>
        {queue.name}
      </Link>
    ),
  },
  {
    key: 'state',
    header: 'State',
    rank: 'medium',
    cell: (queue) =>
      queue.paused ? (
        <Badge tone="warn" icon="pause">
          Paused
        </Badge>
      ) : (
        <Badge tone="ok" icon="play">
          Open
        </Badge>
      ),
  },
  {
    key: 'queued',
    header: 'Queued',
    align: 'end',
    cell: ({ counts }) => formatCount(counts.queued),
  },
  {
    key: 'running',
    header: 'Running',
    align: 'end',
    cell: ({ counts, concurrency }) =>
      `${formatCount(counts.running + counts.claimed)}${concurrency === null ? '' : ` / ${formatCount(concurrency)}`}`,
  },
  {
    key: 'oldest',
    header: 'Oldest wait',
    align: 'end',
    rank: 'medium',
    cell: ({ oldestWaitMs }) => (oldestWaitMs === null ? '–' : formatDurationMs(oldestWaitMs)),
  },
  {
    key: 'done',
    header: 'Done / min',
    align: 'end',
    cell: ({ completedPerMinute }) => formatRate(completedPerMinute),
  },
  {
    key: 'failed',
    header: 'Failed / min',
    align: 'end',
    rank: 'medium',
    cell: ({ failedPerMinute }) => formatRate(failedPerMinute),
  },
];

/** How full each queue is. */
export function QueueSizesPanel({ queues }: { readonly queues: readonly QueueFigures[] }) {
  return (
    <Panel title="Queues" flush actions={<Link to="/queues">All queues</Link>}>
      {queues.length === 0 ? (
        <EmptyState icon="queues" title="No queue yet">
          A queue comes into being with its first job.
        </EmptyState>
      ) : (
        <DataTable
          label="Queues"
          columns={columns}
          rows={queues}
          rowKey={(queue) => queue.name}
          rowTone={(queue) => (queue.paused ? 'warn' : undefined)}
        />
      )}
    </Panel>
  );
}
