import type { Queue } from '@holdfast/contract';
import { useNavigate } from '@tanstack/react-router';
import { useBlocked } from '../../api/access.ts';
import { useQueueAction } from '../../api/queues.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import type { MenuAction } from '../../ui/action-menu.tsx';
import { notifyDone, notifyError } from '../../ui/notify.tsx';
import type { QueueDialog } from './queue-dialogs.tsx';
import classes from './queues-table.module.css';

interface QueueActionsProps {
  readonly queue: Queue;
  readonly onDialog: (dialog: QueueDialog) => void;
}

/** What can be done with one queue: the usual thing as a button, the rest in a menu. */
export function QueueActions({ queue, onDialog }: QueueActionsProps) {
  const action = useQueueAction();
  const navigate = useNavigate();
  const blockedOperate = useBlocked('queue.operate');
  const blockedConfigure = useBlocked('queue.configure');
  const { name } = queue;
  const resume = () => {
    action.mutate(
      { kind: 'resume', name },
      {
        onSuccess: () => {
          notifyDone(`Queue ${name} is open again`);
        },
        onError: notifyError,
      },
    );
  };
  const open = (kind: 'pause' | 'drain' | 'configure' | 'delete') => () => {
    onDialog({ kind, queue });
  };

  const usual: MenuAction =
    queue.paused === null
      ? { label: 'Pause', icon: 'pause', onClick: open('pause'), blockedBecause: blockedOperate }
      : { label: 'Resume', icon: 'play', onClick: resume, blockedBecause: blockedOperate };

  return (
    <span className={classes['actions']}>
      <span data-narrow="hide">
        <ActionButton
          size="row"
          label={usual.label}
          icon={usual.icon}
          blockedBecause={usual.blockedBecause}
          busy={action.isPending}
          onClick={usual.onClick}
        />
      </span>
      <ActionMenu
        label={`Actions of queue ${name}`}
        actions={[
          usual,
          {
            label: 'Show its jobs',
            icon: 'jobs',
            onClick: () => void navigate({ to: '/jobs', search: { queue: name } }),
          },
          { label: 'Drain', icon: 'drain', onClick: open('drain'), blockedBecause: blockedOperate },
          {
            label: 'Limits and retries',
            icon: 'settings',
            onClick: open('configure'),
            blockedBecause: blockedConfigure,
          },
          {
            label: 'Delete',
            icon: 'trash',
            tone: 'danger',
            onClick: open('delete'),
            blockedBecause: blockedConfigure,
          },
        ]}
      />
    </span>
  );
}
