import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useBlocked } from '../../api/access.ts';
import { queueQueries } from '../../api/queues.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { Page } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { TableSkeleton } from '../../ui/data-table.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { QueueDialogs } from './queue-dialogs.tsx';
import type { QueueDialog } from './queue-dialogs.tsx';
import { QueuesTable } from './queues-table.tsx';

const route = getRouteApi('/shell/queues');

/** Every queue with its sizes, and what an operator does with it. */
export function QueuesPage() {
  const { dialog: urlDialog } = route.useSearch();
  const navigate = route.useNavigate();
  const queues = useQuery(queueQueries.list());
  const [dialog, setDialog] = useState<QueueDialog>();
  const blocked = useBlocked('queue.configure');
  const openCreate = () => void navigate({ search: { dialog: 'create' } });
  const close = () => {
    setDialog(undefined);
    if (urlDialog !== undefined) void navigate({ search: {}, replace: true });
  };
  const create = (
    <ActionButton
      label="Create queue"
      icon="plus"
      look="primary"
      blockedBecause={blocked}
      onClick={openCreate}
    />
  );

  return (
    <Page title="Queues" actions={create}>
      <Panel flush>
        {queues.data !== undefined && queues.data.data.length > 0 ? (
          <QueuesTable queues={queues.data.data} onDialog={setDialog} />
        ) : queues.data !== undefined ? (
          <EmptyState icon="queues" title="No queue yet" action={create}>
            A queue comes into being with its first job, or create one now to set its limits first.
          </EmptyState>
        ) : queues.isError ? (
          <ErrorState error={queues.error} onRetry={() => void queues.refetch()} />
        ) : (
          <TableSkeleton />
        )}
      </Panel>
      <QueueDialogs dialog={urlDialog === 'create' ? { kind: 'create' } : dialog} onClose={close} />
    </Page>
  );
}
