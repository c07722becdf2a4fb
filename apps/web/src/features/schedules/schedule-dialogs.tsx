import type { Schedule } from '@holdfast/contract';
import { Modal } from '@mantine/core';
import { useScheduleAction } from '../../api/schedules.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { FireHistory } from './fire-history.tsx';
import { ScheduleForm } from './schedule-form.tsx';

/** Which dialog is open, and about which schedule. */
export type ScheduleDialog =
  | { readonly kind: 'create' }
  | { readonly kind: 'edit' | 'pause' | 'history' | 'delete'; readonly schedule: Schedule };

interface ScheduleDialogsProps {
  readonly dialog: ScheduleDialog | undefined;
  readonly onClose: () => void;
}

function titleOf(dialog: ScheduleDialog): string {
  switch (dialog.kind) {
    case 'create':
      return 'Create a schedule';
    case 'edit':
      return `Edit ${dialog.schedule.name}`;
    case 'history':
      return `History of ${dialog.schedule.name}`;
    case 'pause':
    case 'delete':
      return '';
  }
}

/** The dialogs of the page: at most one is open. */
export function ScheduleDialogs({ dialog, onClose }: ScheduleDialogsProps) {
  if (dialog?.kind === 'pause') return <PauseDialog schedule={dialog.schedule} onClose={onClose} />;
  if (dialog?.kind === 'delete')
    return <DeleteDialog schedule={dialog.schedule} onClose={onClose} />;
  return (
    <Modal
      opened={dialog !== undefined}
      onClose={onClose}
      title={dialog === undefined ? '' : titleOf(dialog)}
      size="lg"
    >
      {dialog?.kind === 'create' ? <ScheduleForm schedule={undefined} onDone={onClose} /> : null}
      {dialog?.kind === 'edit' ? (
        <ScheduleForm schedule={dialog.schedule} onDone={onClose} />
      ) : null}
      {dialog?.kind === 'history' ? <FireHistory schedule={dialog.schedule} /> : null}
    </Modal>
  );
}

interface OneScheduleProps {
  readonly schedule: Schedule;
  readonly onClose: () => void;
}

function PauseDialog({ schedule, onClose }: OneScheduleProps) {
  const action = useScheduleAction();
  return (
    <ConfirmDialog
      opened
      title={`Pause ${schedule.name}?`}
      confirmLabel="Pause"
      reason="required"
      busy={action.isPending}
      error={action.error}
      onClose={onClose}
      onConfirm={(reason) => {
        action.mutate(
          { kind: 'pause', id: schedule.id, reason: reason ?? '' },
          {
            onSuccess: () => {
              notifyDone(`Schedule ${schedule.name} is paused`);
              onClose();
            },
          },
        );
      }}
    >
      It fires no more until somebody resumes it. The instants in between are recorded as skipped.
    </ConfirmDialog>
  );
}

function DeleteDialog({ schedule, onClose }: OneScheduleProps) {
  const action = useScheduleAction();
  return (
    <ConfirmDialog
      opened
      title={`Delete ${schedule.name}?`}
      confirmLabel="Delete the schedule"
      tone="danger"
      busy={action.isPending}
      error={action.error}
      onClose={onClose}
      onConfirm={() => {
        action.mutate(
          { kind: 'delete', id: schedule.id },
          {
            onSuccess: () => {
              notifyDone(`Schedule ${schedule.name} is deleted`);
              onClose();
            },
          },
        );
      }}
    >
      It fires no more, and its history is lost. The jobs that it made stay.
    </ConfirmDialog>
  );
}
