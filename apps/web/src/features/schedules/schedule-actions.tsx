import type { Schedule } from '@holdfast/contract';
import { useBlocked } from '../../api/access.ts';
import { useScheduleAction } from '../../api/schedules.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { ActionMenu } from '../../ui/action-menu.tsx';
import type { MenuAction } from '../../ui/action-menu.tsx';
import { newIdempotencyKey } from '../../ui/new-key.ts';
import { notifyDone, notifyError } from '../../ui/notify.tsx';
import type { ScheduleDialog } from './schedule-dialogs.tsx';
import classes from './schedules.module.css';

interface ScheduleActionsProps {
  readonly schedule: Schedule;
  readonly onDialog: (dialog: ScheduleDialog) => void;
}

/** What can be done with one schedule: run now as a button, the rest in a menu. */
export function ScheduleActions({ schedule, onDialog }: ScheduleActionsProps) {
  const action = useScheduleAction();
  const operate = useBlocked('schedule.operate');
  const configure = useBlocked('schedule.configure');
  const { id, name } = schedule;
  const open = (kind: 'edit' | 'pause' | 'history' | 'delete') => () => {
    onDialog({ kind, schedule });
  };
  const resume = () => {
    action.mutate(
      { kind: 'resume', id },
      {
        onSuccess: () => {
          notifyDone(`Schedule ${name} is on again`);
        },
        onError: notifyError,
      },
    );
  };
  const runNow = () => {
    action.mutate(
      { kind: 'run_now', id, key: newIdempotencyKey() },
      {
        onSuccess: () => {
          notifyDone(`The job of ${name} is in line`);
        },
        onError: notifyError,
      },
    );
  };
  const pauseOrResume: MenuAction =
    schedule.paused === null
      ? { label: 'Pause', icon: 'pause', onClick: open('pause'), blockedBecause: operate }
      : { label: 'Resume', icon: 'play', onClick: resume, blockedBecause: operate };

  const usual: MenuAction = {
    label: 'Run now',
    icon: 'bolt',
    onClick: runNow,
    blockedBecause: operate,
  };

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
        label={`Actions of schedule ${name}`}
        actions={[
          usual,
          { label: 'History', icon: 'clock', onClick: open('history') },
          pauseOrResume,
          { label: 'Edit', icon: 'edit', onClick: open('edit'), blockedBecause: configure },
          {
            label: 'Delete',
            icon: 'trash',
            tone: 'danger',
            onClick: open('delete'),
            blockedBecause: configure,
          },
        ]}
      />
    </span>
  );
}
