import type { Worker } from '@holdfast/contract';
import { useState } from 'react';
import { useBlocked } from '../../api/access.ts';
import { useWorkerAction } from '../../api/workers.ts';
import type { WorkerAction } from '../../api/workers.ts';
import { ActionMenu } from '../../ui/action-menu.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notifyDone, notifyError } from '../../ui/notify.tsx';

const done: Record<WorkerAction['kind'], string> = {
  quiet: 'With its next heartbeat the worker claims no more',
  resume: 'With its next heartbeat the worker claims again',
  stop: 'With its next heartbeat the worker begins to stop',
};

function whyNot(worker: Worker, kind: WorkerAction['kind']): string | undefined {
  if (worker.status === 'lost') return 'It is lost: nothing can be said to it.';
  if (worker.status === 'stopping') return 'It is stopping already.';
  if (kind === 'quiet' && worker.status === 'quiet') return 'It is quiet already.';
  if (kind === 'resume' && worker.status === 'active') return 'It claims jobs already.';
  return undefined;
}

/** What can be said to one worker. */
export function WorkerActions({ worker }: { readonly worker: Worker }) {
  const [stopping, setStopping] = useState(false);
  const action = useWorkerAction();
  const blocked = useBlocked('worker.operate');
  const because = (kind: WorkerAction['kind']) => blocked ?? whyNot(worker, kind);
  const order = (kind: WorkerAction['kind'], after?: () => void) => {
    action.mutate(
      { kind, id: worker.id },
      {
        onSuccess: () => {
          notifyDone(done[kind]);
          after?.();
        },
        onError: notifyError,
      },
    );
  };
  const closeStop = () => {
    setStopping(false);
  };

  return (
    <>
      <ActionMenu
        label={`Actions of worker ${worker.host} ${String(worker.pid)}`}
        actions={[
          {
            label: 'Quiet',
            icon: 'moonSleep',
            blockedBecause: because('quiet'),
            onClick: () => {
              order('quiet');
            },
          },
          {
            label: 'Resume',
            icon: 'play',
            blockedBecause: because('resume'),
            onClick: () => {
              order('resume');
            },
          },
          {
            label: 'Stop',
            icon: 'stop',
            tone: 'danger',
            blockedBecause: because('stop'),
            onClick: () => {
              setStopping(true);
            },
          },
        ]}
      />
      <ConfirmDialog
        opened={stopping}
        title={`Stop the worker on ${worker.host}?`}
        confirmLabel="Stop the worker"
        tone="danger"
        busy={action.isPending}
        error={action.error}
        onClose={closeStop}
        onConfirm={() => {
          order('stop', closeStop);
        }}
      >
        It claims no more, gives its jobs time to finish, gives back those that do not, and ends.
        Only whoever runs it can start it again.
      </ConfirmDialog>
    </>
  );
}
