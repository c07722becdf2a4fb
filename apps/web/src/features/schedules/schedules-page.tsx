import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useBlocked } from '../../api/access.ts';
import { scheduleQueries } from '../../api/schedules.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { TableSkeleton } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { ScheduleDialogs } from './schedule-dialogs.tsx';
import type { ScheduleDialog } from './schedule-dialogs.tsx';
import { SchedulesTable } from './schedules-table.tsx';

const route = getRouteApi('/shell/schedules');

/** Jobs that are enqueued by the clock. */
export function SchedulesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const schedules = useQuery(scheduleQueries.list());
  const [local, setLocal] = useState<ScheduleDialog>();
  const blocked = useBlocked('schedule.configure');
  const rows = schedules.data?.data;
  const shown = rows?.find((schedule) => schedule.id === search.history);
  const fromUrl: ScheduleDialog | undefined =
    search.dialog === 'create'
      ? { kind: 'create' }
      : shown === undefined
        ? undefined
        : { kind: 'history', schedule: shown };

  const close = () => {
    setLocal(undefined);
    if (fromUrl !== undefined) void navigate({ search: {}, replace: true });
  };
  const create = (
    <ActionButton
      label="Create schedule"
      icon="plus"
      look="primary"
      blockedBecause={blocked}
      onClick={() => void navigate({ search: { dialog: 'create' } })}
    />
  );

  return (
    <Page title="Schedules" actions={create}>
      <Panel flush>
        {rows !== undefined && rows.length > 0 ? (
          <SchedulesTable schedules={rows} onDialog={setLocal} />
        ) : rows !== undefined ? (
          <EmptyState icon="schedules" title="No schedule yet" action={create}>
            A schedule enqueues a job at fixed times: every night, every five minutes, on the first
            Monday of a month.
          </EmptyState>
        ) : schedules.isError ? (
          <ErrorState error={schedules.error} onRetry={() => void schedules.refetch()} />
        ) : (
          <TableSkeleton rows={5} />
        )}
      </Panel>
      <ScheduleDialogs dialog={fromUrl ?? local} onClose={close} />
    </Page>
  );
}
