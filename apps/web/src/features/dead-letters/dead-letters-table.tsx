import type { JobSummary } from '@holdfast/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useBlocked } from '../../api/access.ts';
import { useJobAction } from '../../api/jobs.ts';
import { shortId } from '../../format/id.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { notifyDone } from '../../ui/notify.tsx';
import { Time } from '../../ui/time.tsx';
import classes from './dead-letters.module.css';

const columns: readonly Column<JobSummary>[] = [
  {
    key: 'job',
    header: 'Job',
    cell: (job) => (
      <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={classes['job']}>
        {job.type} <code>{shortId(job.id)}</code>
      </Link>
    ),
  },
  { key: 'queue', header: 'Queue', rank: 'wide', cell: (job) => job.queue },
  {
    key: 'error',
    header: 'Last error',
    rank: 'medium',
    grow: true,
    cell: (job) => <LastError job={job} />,
  },
  {
    key: 'attempts',
    header: 'Attempts',
    align: 'end',
    rank: 'wide',
    cell: (job) => job.attempt,
  },
  {
    key: 'died',
    header: 'Died',
    align: 'end',
    cell: (job) => <Time at={job.finishedAt ?? job.createdAt} />,
  },
];

/** Dead letters, newest first, each with a way to replay it. */
export function DeadLettersTable({ jobs }: { readonly jobs: readonly JobSummary[] }) {
  const [asked, setAsked] = useState<JobSummary>();
  const blocked = useBlocked('job.manage');
  const replay: Column<JobSummary> = {
    key: 'replay',
    header: 'Replay',
    align: 'end',
    cell: (job) => (
      <ActionButton
        size="row"
        label="Replay"
        icon="replay"
        blockedBecause={blocked}
        onClick={() => {
          setAsked(job);
        }}
      />
    ),
  };
  return (
    <>
      <DataTable
        label="Dead letters"
        columns={[...columns, replay]}
        rows={jobs}
        rowKey={(job) => job.id}
      />
      {asked === undefined ? null : (
        <ReplayDialog
          job={asked}
          onClose={() => {
            setAsked(undefined);
          }}
        />
      )}
    </>
  );
}

function LastError({ job }: { readonly job: JobSummary }) {
  if (job.lastError === null) return <span className={classes['message']}>{job.reason}</span>;
  return (
    <span className={classes['message']} title={job.lastError.message}>
      <code>{job.lastError.code}</code> {job.lastError.message}
    </span>
  );
}

interface ReplayDialogProps {
  readonly job: JobSummary;
  readonly onClose: () => void;
}

function ReplayDialog({ job, onClose }: ReplayDialogProps) {
  const action = useJobAction();
  return (
    <ConfirmDialog
      opened
      title={`Replay ${job.type} ${shortId(job.id)}?`}
      confirmLabel="Replay"
      reason="optional"
      busy={action.isPending}
      error={action.error}
      onClose={onClose}
      onConfirm={(reason) => {
        action.mutate(
          { id: job.id, action: { kind: 'replay', reason } },
          {
            onSuccess: () => {
              notifyDone('The job is in line again');
              onClose();
            },
          },
        );
      }}
    >
      It goes back in line under the same id with all its attempts. Be sure that its cause is
      mended.
    </ConfirmDialog>
  );
}
