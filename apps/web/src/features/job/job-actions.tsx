import type { JobDetail } from '@holdfast/contract';
import type { JobStatus } from '@holdfast/domain';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useBlocked } from '../../api/access.ts';
import { useDuplicateJob, useJobAction } from '../../api/jobs.ts';
import type { JobAction } from '../../api/jobs.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { newIdempotencyKey } from '../../ui/new-key.ts';
import { notifyDone, notifyError } from '../../ui/notify.tsx';
import { AskDialog } from './ask-dialog.tsx';
import type { AskedAction } from './ask-dialog.tsx';
import { EditJobDialog } from './edit-job-dialog.tsx';

type ActionName = JobAction['kind'];

/** What the state machine allows a person to do, by status. The API refuses anything else with the same reasons. */
const actionsOf: Record<JobStatus, readonly ActionName[]> = {
  queued: ['edit', 'cancel'],
  scheduled: ['run_now', 'edit', 'cancel'],
  claimed: ['cancel'],
  running: ['cancel'],
  completed: [],
  failed: ['retry', 'cancel'],
  dead_letter: ['replay'],
  cancelled: [],
};

/** The buttons for what can be done with the job now. */
export function JobActions({ job }: { readonly job: JobDetail }) {
  const [asked, setAsked] = useState<AskedAction>();
  const [editing, setEditing] = useState(false);
  const action = useJobAction();
  const blocked = useBlocked('job.manage');
  const allowed = actionsOf[job.status];
  const runNow = () => {
    action.mutate(
      { id: job.id, action: { kind: 'run_now' } },
      {
        onSuccess: () => {
          notifyDone('The job is in line');
        },
        onError: notifyError,
      },
    );
  };
  const ask = (kind: AskedAction) => () => {
    setAsked(kind);
  };

  return (
    <>
      {allowed.includes('retry') ? (
        <ActionButton
          label="Retry"
          icon="retry"
          look="primary"
          blockedBecause={blocked}
          onClick={ask('retry')}
        />
      ) : null}
      {allowed.includes('replay') ? (
        <ActionButton
          label="Replay"
          icon="replay"
          look="primary"
          blockedBecause={blocked}
          onClick={ask('replay')}
        />
      ) : null}
      {allowed.includes('run_now') ? (
        <ActionButton
          label="Run now"
          icon="bolt"
          look="primary"
          blockedBecause={blocked}
          busy={action.isPending}
          onClick={runNow}
        />
      ) : null}
      {allowed.includes('edit') ? (
        <ActionButton
          label="Edit"
          icon="edit"
          blockedBecause={blocked}
          onClick={() => {
            setEditing(true);
          }}
        />
      ) : null}
      <DuplicateButton job={job} />
      {allowed.includes('cancel') ? (
        <ActionButton
          label="Cancel job"
          icon="slash"
          look="danger"
          blockedBecause={
            blocked ??
            (job.cancelRequestedAt === null ? undefined : 'It was already asked to stop.')
          }
          onClick={ask('cancel')}
        />
      ) : null}
      <AskDialog
        job={job}
        asked={asked}
        onClose={() => {
          setAsked(undefined);
        }}
      />
      <EditJobDialog
        job={job}
        opened={editing}
        onClose={() => {
          setEditing(false);
        }}
      />
    </>
  );
}

function DuplicateButton({ job }: { readonly job: JobDetail }) {
  const duplicate = useDuplicateJob();
  const navigate = useNavigate();
  const blocked = useBlocked('job.enqueue');
  return (
    <ActionButton
      label="Duplicate"
      icon="copy"
      blockedBecause={blocked}
      busy={duplicate.isPending}
      onClick={() => {
        duplicate.mutate(
          { id: job.id, key: newIdempotencyKey() },
          {
            onSuccess: (copy) => {
              notifyDone('A new job like this one is in line');
              void navigate({ to: '/jobs/$jobId', params: { jobId: copy.id } });
            },
            onError: notifyError,
          },
        );
      }}
    />
  );
}
