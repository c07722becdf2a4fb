import type { Schedule, ScheduleFire } from '@holdfast/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { scheduleQueries } from '../../api/schedules.ts';
import { shortId } from '../../format/id.ts';
import { formatInZone } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { DataTable, TableSkeleton } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { Time } from '../../ui/time.tsx';
import { fireLook } from './fire-look.ts';
import classes from './schedules.module.css';

const columns: readonly Column<ScheduleFire>[] = [
  { key: 'due', header: 'Due', cell: (fire) => <Time at={fire.fireAt} /> },
  {
    key: 'outcome',
    header: 'Outcome',
    cell: (fire) => {
      const look = fireLook[fire.outcome];
      return (
        <Badge tone={look.tone} title={look.meaning}>
          {look.label}
        </Badge>
      );
    },
  },
  {
    key: 'job',
    header: 'Job',
    grow: true,
    cell: (fire) =>
      fire.jobId === null ? (
        '–'
      ) : (
        <Link to="/jobs/$jobId" params={{ jobId: fire.jobId }}>
          {shortId(fire.jobId)}
        </Link>
      ),
  },
];

/** What became of the last instants of a schedule, as a strip and as a list. */
export function FireHistory({ schedule }: { readonly schedule: Schedule }) {
  const fires = useQuery(scheduleQueries.fires(schedule.id));
  if (fires.data === undefined) {
    return fires.isError ? (
      <ErrorState error={fires.error} onRetry={() => void fires.refetch()} />
    ) : (
      <TableSkeleton rows={5} />
    );
  }
  const newestFirst = fires.data.data;
  if (newestFirst.length === 0) {
    return (
      <EmptyState icon="clock" title="It has not fired yet">
        {schedule.nextFireAt === null || schedule.paused !== null ? (
          'It is paused, or has no instant to come.'
        ) : (
          <>
            The first time is <Time at={schedule.nextFireAt} />.
          </>
        )}
      </EmptyState>
    );
  }
  return (
    <>
      <ol className={classes['strip']} aria-hidden="true">
        {[...newestFirst].reverse().map((fire) => (
          <li
            key={`${fire.fireAt} ${fire.outcome}`}
            data-tone={fireLook[fire.outcome].tone}
            title={`${formatInZone(fire.fireAt, schedule.timezone)}: ${fireLook[fire.outcome].label}`}
          />
        ))}
      </ol>
      <DataTable
        label="Fires"
        columns={columns}
        rows={newestFirst}
        rowKey={(fire) => `${fire.fireAt} ${fire.outcome}`}
      />
    </>
  );
}
