import { useQuery } from '@tanstack/react-query';
import { workerQueries } from '../../api/workers.ts';
import { plural } from '../../format/number.ts';
import { TableSkeleton } from '../../ui/data-table.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { WorkersTable } from './workers-table.tsx';

/** The processes that run jobs. */
export function WorkersPage() {
  const workers = useQuery(workerQueries.list());
  const rows = workers.data?.data;
  const alive = rows?.filter((worker) => worker.status !== 'lost') ?? [];
  const slots = alive.reduce((sum, worker) => sum + worker.slots, 0);
  return (
    <Page
      title="Workers"
      subtitle={
        rows === undefined || rows.length === 0
          ? undefined
          : `${plural(alive.length, 'worker')} alive with ${plural(slots, 'slot')}. Lost ones stay here for an hour.`
      }
    >
      <Panel flush>
        {rows !== undefined && rows.length > 0 ? (
          <WorkersTable workers={rows} />
        ) : rows !== undefined ? (
          <EmptyState icon="workers" title="No worker is running">
            Nothing is claimed until one starts: run <code>npm run worker</code> with the same
            <code> DATABASE_URL</code>, as often and on as many machines as you like.
          </EmptyState>
        ) : workers.isError ? (
          <ErrorState error={workers.error} onRetry={() => void workers.refetch()} />
        ) : (
          <TableSkeleton rows={4} />
        )}
      </Panel>
    </Page>
  );
}
