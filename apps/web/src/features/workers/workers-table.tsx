import type { Worker } from '@holdfast/contract';
import { Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { formatDurationMs } from '../../format/duration.ts';
import { shortId } from '../../format/id.ts';
import { formatBytes } from '../../format/number.ts';
import { Badge } from '../../ui/badge.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Time } from '../../ui/time.tsx';
import { WorkerActions } from './worker-actions.tsx';
import { workerLook } from './worker-look.ts';
import classes from './workers.module.css';

const columns: readonly Column<Worker>[] = [
  {
    key: 'worker',
    header: 'Worker',
    grow: true,
    cell: (worker) => (
      <span className={classes['name']}>
        <strong>{worker.host}</strong>
        <span title={worker.id}>
          pid {worker.pid} · {shortId(worker.id)}
        </span>
      </span>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    cell: (worker) => {
      const look = workerLook[worker.status];
      return (
        <Badge tone={look.tone} icon={look.icon} title={look.meaning}>
          {look.label}
        </Badge>
      );
    },
  },
  { key: 'slots', header: 'Slots', cell: (worker) => <Slots worker={worker} /> },
  {
    key: 'running',
    header: 'Running jobs',
    rank: 'wide',
    cell: (worker) => <Jobs worker={worker} />,
  },
  {
    key: 'heartbeat',
    header: 'Heartbeat',
    align: 'end',
    rank: 'medium',
    cell: (worker) => <Time at={worker.heartbeatAt} />,
  },
  {
    key: 'memory',
    header: 'Memory',
    align: 'end',
    rank: 'wide',
    cell: ({ rssBytes }) => (rssBytes === null ? '–' : formatBytes(rssBytes)),
  },
  {
    key: 'lag',
    header: 'Loop lag',
    align: 'end',
    rank: 'wide',
    cell: ({ loopLagMs }) => (loopLagMs === null ? '–' : formatDurationMs(loopLagMs)),
  },
  {
    key: 'started',
    header: 'Started',
    align: 'end',
    rank: 'medium',
    cell: (worker) => <Time at={worker.startedAt} />,
  },
  {
    key: 'actions',
    header: 'Actions',
    align: 'end',
    cell: (worker) => <WorkerActions worker={worker} />,
  },
];

function lostLast(workers: readonly Worker[]): readonly Worker[] {
  const isLost = (worker: Worker) => worker.status === 'lost';
  return [...workers.filter((worker) => !isLost(worker)), ...workers.filter(isLost)];
}

/** The workers, one a row. */
export function WorkersTable({ workers }: { readonly workers: readonly Worker[] }) {
  return (
    <DataTable
      label="Workers"
      columns={columns}
      rows={lostLast(workers)}
      rowKey={(worker) => worker.id}
      rowTone={(worker) => (worker.status === 'lost' ? 'bad' : undefined)}
    />
  );
}

function Slots({ worker }: { readonly worker: Worker }) {
  const busy = worker.running.length;
  return (
    <span className={classes['slots']}>
      {busy} / {worker.slots}
      <Meter value={busy} max={worker.slots} label={`Busy slots of ${worker.host}`} />
    </span>
  );
}

const listedJobs = 3;

function Jobs({ worker }: { readonly worker: Worker }) {
  const { running } = worker;
  if (running.length === 0) return '–';
  return (
    <span className={classes['jobs']}>
      {running.slice(0, listedJobs).map((id) => (
        <Tooltip key={id} label={id}>
          <Link to="/jobs/$jobId" params={{ jobId: id }}>
            {shortId(id)}
          </Link>
        </Tooltip>
      ))}
      {running.length > listedJobs ? <span>+{running.length - listedJobs}</span> : null}
    </span>
  );
}
