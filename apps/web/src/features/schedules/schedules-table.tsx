import type { Schedule } from '@holdfast/contract';
import { Tooltip } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { describeRhythm } from '../../format/cron.ts';
import { formatInZone, viewerTimeZone } from '../../format/time.ts';
import { Badge } from '../../ui/badge.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Time } from '../../ui/time.tsx';
import { fireLook } from './fire-look.ts';
import { ScheduleActions } from './schedule-actions.tsx';
import type { ScheduleDialog } from './schedule-dialogs.tsx';
import classes from './schedules.module.css';

interface SchedulesTableProps {
  readonly schedules: readonly Schedule[];
  readonly onDialog: (dialog: ScheduleDialog) => void;
}

/** The schedules, one a row. */
export function SchedulesTable({ schedules, onDialog }: SchedulesTableProps) {
  const actions: Column<Schedule> = {
    key: 'actions',
    header: 'Actions',
    align: 'end',
    cell: (schedule) => <ScheduleActions schedule={schedule} onDialog={onDialog} />,
  };
  return (
    <DataTable
      label="Schedules"
      columns={[...columns, actions]}
      rows={schedules}
      rowKey={(schedule) => schedule.id}
      rowTone={(schedule) => (schedule.paused === null ? undefined : 'warn')}
    />
  );
}

const columns: readonly Column<Schedule>[] = [
  {
    key: 'name',
    header: 'Schedule',
    grow: true,
    cell: (schedule) => (
      <span className={classes['name']}>
        <Link to="/schedules" search={{ history: schedule.id }}>
          {schedule.name}
        </Link>
        <span title={`${schedule.cron ?? schedule.every ?? ''} in ${schedule.timezone}`}>
          {describeRhythm(schedule)} · {schedule.timezone}
        </span>
      </span>
    ),
  },
  {
    key: 'state',
    header: 'State',
    rank: 'medium',
    cell: (schedule) => <State schedule={schedule} />,
  },
  {
    key: 'job',
    header: 'Job',
    rank: 'wide',
    cell: ({ job }) => (
      <span className={classes['name']}>
        <span className={classes['plain']}>{job.type}</span>
        <span>in {job.queue}</span>
      </span>
    ),
  },
  { key: 'next', header: 'Next fire', cell: (schedule) => <NextFire schedule={schedule} /> },
  {
    key: 'last',
    header: 'Last fire',
    rank: 'medium',
    cell: (schedule) => <LastFire schedule={schedule} />,
  },
];

function State({ schedule: { paused } }: { readonly schedule: Schedule }) {
  if (paused === null) {
    return (
      <Badge tone="ok" icon="play">
        On
      </Badge>
    );
  }
  const by = paused.by === null ? '' : ` – by ${paused.by}`;
  return (
    <Tooltip label={`${paused.reason ?? 'No reason given'}${by}`}>
      <span>
        <Badge tone="warn" icon="pause">
          Paused
        </Badge>
      </span>
    </Tooltip>
  );
}

function NextFire({ schedule }: { readonly schedule: Schedule }) {
  if (schedule.paused !== null || schedule.nextFireAt === null) return '–';
  const elsewhere = schedule.timezone !== viewerTimeZone();
  return (
    <span className={classes['name']}>
      <span className={classes['plain']}>
        <Time at={schedule.nextFireAt} />
      </span>
      <span title={elsewhere ? `In ${schedule.timezone}` : undefined}>
        {formatInZone(schedule.nextFireAt, schedule.timezone)}
      </span>
    </span>
  );
}

function LastFire({ schedule: { lastFire } }: { readonly schedule: Schedule }) {
  if (lastFire === null) return '–';
  const look = fireLook[lastFire.outcome];
  return (
    <span className={classes['last']}>
      <Badge tone={look.tone} title={look.meaning}>
        {look.label}
      </Badge>
      {lastFire.jobId === null ? (
        <Time at={lastFire.fireAt} />
      ) : (
        <Link to="/jobs/$jobId" params={{ jobId: lastFire.jobId }}>
          <Time at={lastFire.fireAt} />
        </Link>
      )}
    </span>
  );
}
