import type { JobDetail } from '@holdfast/contract';
import { useJobAction } from '../../api/jobs.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { notifyDone } from '../../ui/notify.tsx';

/** The actions that ask before they act. */
export type AskedAction = 'cancel' | 'retry' | 'replay';

interface Wording {
  readonly title: string;
  readonly text: (job: JobDetail) => string;
  readonly confirm: string;
  readonly done: string;
  readonly tone: 'default' | 'danger';
}

const wordings: Record<AskedAction, Wording> = {
  cancel: {
    title: 'Cancel this job?',
    text: (job) =>
      job.status === 'claimed' || job.status === 'running'
        ? 'Its handler is asked to stop and has 30 seconds to do so. If it finishes first, its result counts.'
        : 'It will not run. This is for good; a duplicate can be made later.',
    confirm: 'Cancel job',
    done: 'The job is cancelled, or asked to stop',
    tone: 'danger',
  },
  retry: {
    title: 'Retry this job?',
    text: () => 'It goes back in line with all its attempts.',
    confirm: 'Retry',
    done: 'The job is in line again',
    tone: 'default',
  },
  replay: {
    title: 'Replay this job?',
    text: () =>
      'It goes back in line under the same id, as the next generation, with all its attempts. Be sure that its cause is mended.',
    confirm: 'Replay',
    done: 'The job is in line again',
    tone: 'default',
  },
};

interface AskDialogProps {
  readonly job: JobDetail;
  readonly asked: AskedAction | undefined;
  readonly onClose: () => void;
}

/** Asks before a cancel, retry or replay. */
export function AskDialog({ job, asked, onClose }: AskDialogProps) {
  const action = useJobAction();
  if (asked === undefined) return null;
  const wording = wordings[asked];
  return (
    <ConfirmDialog
      opened
      title={wording.title}
      confirmLabel={wording.confirm}
      tone={wording.tone}
      reason="optional"
      busy={action.isPending}
      error={action.error}
      onClose={() => {
        action.reset();
        onClose();
      }}
      onConfirm={(reason) => {
        action.mutate(
          { id: job.id, action: { kind: asked, reason } },
          {
            onSuccess: () => {
              notifyDone(wording.done);
              onClose();
            },
          },
        );
      }}
    >
      {wording.text(job)}
    </ConfirmDialog>
  );
}
