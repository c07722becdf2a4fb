import type { Queue } from '@holdfast/contract';
import { Modal } from '@mantine/core';
import { useQueueAction } from '../../api/queues.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { PauseForm } from './pause-form.tsx';
import { QueueForm } from './queue-form.tsx';

/** Which dialog is open, and about which queue. */
export type QueueDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'pause' | 'drain' | 'configure' | 'delete'; readonly queue: Queue };

interface QueueDialogsProps {
  readonly dialog: QueueDialog | undefined;
  readonly onClose: () => void;
}

const titles: Record<QueueDialog['kind'], string> = {
  create: 'Create a queue',
  pause: 'Pause the queue',
  drain: 'Drain the queue',
  configure: 'Limits and retries',
  delete: 'Delete the queue',
};

/** The dialogs of the page: at most one is open. */
export function QueueDialogs({ dialog, onClose }: QueueDialogsProps) {
  if (dialog?.kind === 'delete') return <DeleteDialog queue={dialog.queue} onClose={onClose} />;
  return (
    <Modal
      opened={dialog !== undefined}
      onClose={onClose}
      title={dialog === undefined ? '' : titles[dialog.kind]}
      size="lg"
    >
      {dialog === undefined ? null : <DialogBody dialog={dialog} onClose={onClose} />}
    </Modal>
  );
}

interface DialogBodyProps {
  readonly dialog: QueueDialog;
  readonly onClose: () => void;
}

function DialogBody({ dialog, onClose }: DialogBodyProps) {
  switch (dialog.kind) {
    case 'create':
      return <QueueForm queue={undefined} onDone={onClose} />;
    case 'configure':
      return <QueueForm queue={dialog.queue} onDone={onClose} />;
    case 'pause':
    case 'drain':
      return <PauseForm kind={dialog.kind} queue={dialog.queue} onDone={onClose} />;
    case 'delete':
      return null;
  }
}

interface DeleteDialogProps {
  readonly queue: Queue;
  readonly onClose: () => void;
}

function DeleteDialog({ queue, onClose }: DeleteDialogProps) {
  const action = useQueueAction();
  return (
    <ConfirmDialog
      opened
      title={`Delete the queue ${queue.name}?`}
      confirmLabel="Delete the queue"
      tone="danger"
      busy={action.isPending}
      error={action.error}
      onClose={onClose}
      onConfirm={() => {
        action.mutate(
          { kind: 'delete', name: queue.name },
          {
            onSuccess: () => {
              notifyDone(`Queue ${queue.name} is deleted`);
              onClose();
            },
          },
        );
      }}
    >
      Only an empty queue can be deleted. Its settings are lost; a later job makes it anew.
    </ConfirmDialog>
  );
}
