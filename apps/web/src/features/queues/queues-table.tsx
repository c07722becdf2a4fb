import type { Overview, Queue } from '@holdfast/contract';
import { Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { statsQueries } from '../../api/stats.ts';
import { formatDurationMs } from '../../format/duration.ts';
import { formatCount, formatRate } from '../../format/number.ts';
import { formatAbsolute } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Meter } from '../../ui/meter.tsx';
import { QueueActions } from './queue-actions.tsx';
import type { QueueDialog } from './queue-dialogs.tsx';
import classes from './queues-table.module.css';

interface QueuesTableProps {
  readonly queues: readonly Queue[];
  readonly onDialog: (dialog: QueueDialog) => void;
}

type Rates = Pick<Overview['queues'][number], 'completedPerMinute' | 'failedPerMinute'>;

/** The queues, one a row. */
export function QueuesTable({ queues, onDialog }: QueuesTableProps) {
  const overview = useQuery(statsQueries.overview());
  const rates = new Map(overview.data?.queues.map((queue) => [queue.name, queue]));
  const columns: readonly Column<Queue>[] = [
    ...sizeColumns,
    ...rateColumns((queue) => rates.get(queue.name)),
    {
      key: 'actions',
      header: 'Actions',
      align: 'end',
      cell: (queue) => <QueueActions queue={queue} onDialog={onDialog} />,
    },
  ];
  return (
    <DataTable
      label="Queues"
      columns={columns}
      rows={queues}
      rowKey={(queue) => queue.name}
      rowTone={(queue) => (queue.paused === null ? undefined : 'warn')}
    />
  );
}

const sizeColumns: readonly Column<Queue>[] = [
  {
    key: 'name',
    header: 'Queue',
    grow: true,
    cell: (queue) => (
      <span className={classes['queue']}>
        <Link to="/jobs" search={{ queue: queue.name }} className={classes['name']}>
          {queue.name}
        </Link>
        {queue.paused === null ? null : (
          <span data-narrow="only" className={classes['paused']} title="Paused">
            <Icon name="pause" size={13} />
          </span>
        )}
      </span>
    ),
  },
  { key: 'state', header: 'State', rank: 'medium', cell: (queue) => <QueueState queue={queue} /> },
  {
    key: 'queued',
    header: 'Queued',
    align: 'end',
    cell: ({ counts }) => formatCount(counts.queued),
  },
  {
    key: 'scheduled',
    header: 'Scheduled',
    align: 'end',
    rank: 'wide',
    cell: ({ counts }) => formatCount(counts.scheduled),
  },
  { key: 'running', header: 'Running', align: 'end', cell: (queue) => <Running queue={queue} /> },
  {
    key: 'dead',
    header: 'Dead',
    align: 'end',
    rank: 'medium',
    cell: (queue) => <DeadLetters queue={queue} />,
  },
  {
    key: 'oldest',
    header: 'Oldest wait',
    align: 'end',
    rank: 'medium',
    cell: ({ oldestWaitMs }) => (oldestWaitMs === null ? '–' : formatDurationMs(oldestWaitMs)),
  },
];

function rateColumns(ratesOf: (queue: Queue) => Rates | undefined): readonly Column<Queue>[] {
  return [
    {
      key: 'done',
      header: 'Done / min',
      align: 'end',
      rank: 'medium',
      cell: (queue) => formatRate(ratesOf(queue)?.completedPerMinute ?? 0),
    },
    {
      key: 'failed',
      header: 'Failed / min',
      align: 'end',
      rank: 'wide',
      cell: (queue) => formatRate(ratesOf(queue)?.failedPerMinute ?? 0),
    },
  ];
}

function QueueState({ queue }: { readonly queue: Queue }) {
  const { paused } = queue;
  if (paused === null) {
    return (
      <Badge tone="ok" icon="play">
        Open
      </Badge>
    );
  }
  const until = paused.until === null ? 'until resumed' : `until ${formatAbsolute(paused.until)}`;
  const by = paused.by === null ? '' : ` by ${paused.by}`;
  return (
    <Tooltip label={`${paused.reason ?? 'No reason given'} – paused${by}, ${until}`}>
      <span>
        <Badge tone="warn" icon="pause">
          Paused
        </Badge>
      </span>
    </Tooltip>
  );
}

function Running({ queue }: { readonly queue: Queue }) {
  const running = queue.counts.running + queue.counts.claimed;
  if (queue.concurrency === null) return formatCount(running);
  return (
    <span className={classes['running']}>
      {formatCount(running)} / {formatCount(queue.concurrency)}
      <Meter value={running} max={queue.concurrency} label={`Limit of ${queue.name} in use`} />
    </span>
  );
}

function DeadLetters({ queue }: { readonly queue: Queue }) {
  const count = queue.counts.deadLetter;
  if (count === 0) return '0';
  return (
    <Link to="/dead-letters" search={{ queue: queue.name }} className={classes['dead']}>
      {formatCount(count)}
    </Link>
  );
}
