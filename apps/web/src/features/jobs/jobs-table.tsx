import type { JobSummary } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import { shortId } from '../../format/id.ts';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Elapsed, Time } from '../../ui/time.tsx';
import type { FeedRow } from './job-feed.ts';
import classes from './jobs-table.module.css';

const columns: readonly Column<FeedRow>[] = [
  {
    key: 'job',
    header: 'Job',
    cell: ({ job, left }) => (
      <Link
        to="/jobs/$jobId"
        params={{ jobId: job.id }}
        className={classes['job']}
        data-left={left}
      >
        <span className={classes['type']}>{job.type}</span>
        <span className={classes['id']}>{shortId(job.id)}</span>
      </Link>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    cell: ({ job, left }) => (
      <span data-left={left} className={classes['status']}>
        <StatusBadge status={job.status} />
        {left ? <span title="No longer matches the filter">moved on</span> : null}
      </span>
    ),
  },
  {
    key: 'queue',
    header: 'Queue',
    rank: 'medium',
    cell: ({ job }) => (
      <Link to="/jobs" search={{ queue: job.queue }} className={classes['quiet']}>
        {job.queue}
      </Link>
    ),
  },
  {
    key: 'attempt',
    header: 'Attempt',
    align: 'end',
    rank: 'medium',
    cell: ({ job }) => `${String(job.attempt)} / ${String(job.maxAttempts)}`,
  },
  {
    key: 'note',
    header: 'Note',
    rank: 'medium',
    grow: true,
    cell: ({ job }) => <Note job={job} />,
  },
  {
    key: 'created',
    header: 'Created',
    align: 'end',
    cell: ({ job }) => <Time at={job.createdAt} />,
  },
  {
    key: 'took',
    header: 'Took',
    align: 'end',
    rank: 'wide',
    cell: ({ job }) => <Took job={job} />,
  },
];

/** The jobs of one page. */
export function JobsTable({ rows }: { readonly rows: readonly FeedRow[] }) {
  return <DataTable label="Jobs" columns={columns} rows={rows} rowKey={({ job }) => job.id} />;
}

function Note({ job }: { readonly job: JobSummary }) {
  if (job.status === 'scheduled' && job.runAt !== null) {
    return (
      <span className={classes['note']}>
        {job.attempt > 0 ? 'next attempt ' : 'due '}
        <Time at={job.runAt} />
        {job.lastError === null ? '' : ` – ${job.lastError.message}`}
      </span>
    );
  }
  if (job.cancelRequestedAt !== null && job.finishedAt === null) {
    return <span className={classes['note']}>asked to stop</span>;
  }
  if (job.lastError !== null) {
    return (
      <span className={classes['note']} title={job.lastError.message}>
        {job.lastError.message}
      </span>
    );
  }
  return <span className={classes['note']}>{job.tags.join(', ')}</span>;
}

function Took({ job }: { readonly job: JobSummary }) {
  if (job.startedAt === null || job.status === 'scheduled' || job.status === 'queued') return '–';
  return <Elapsed from={job.startedAt} to={job.finishedAt ?? undefined} />;
}
