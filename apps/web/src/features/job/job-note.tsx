import type { JobDetail } from '@holdfast/contract';
import { errorCodes } from '@holdfast/domain';
import { Icon } from '../../ui/icon.tsx';
import type { IconName } from '../../ui/icon-paths.ts';
import { Time } from '../../ui/time.tsx';
import type { ReactNode } from 'react';
import classes from './job-note.module.css';

/** One sentence on why the job stands as it does, where the status alone does not say it. */
export function JobNote({ job }: { readonly job: JobDetail }) {
  const { status, lastError, runAt, cancelRequestedAt } = job;
  if (status === 'dead_letter') {
    return (
      <Note tone="bad" icon="deadLetters">
        {meaningOf(job.reason)} {lastError?.message ?? 'It failed for the last time.'}
      </Note>
    );
  }
  if (status === 'failed') {
    return (
      <Note tone="warn" icon="warning">
        It waits for a person: retry or cancel it. {lastError?.message}
      </Note>
    );
  }
  if (cancelRequestedAt !== null && job.finishedAt === null) {
    return (
      <Note tone="warn" icon="slash">
        Asked to stop <Time at={cancelRequestedAt} />. Its handler has 30 seconds to do so.
      </Note>
    );
  }
  if (status === 'scheduled' && runAt !== null) {
    return (
      <Note tone="later" icon="clock">
        {job.attempt > 0 ? 'The next attempt is due ' : 'Due '}
        <Time at={runAt} />.
      </Note>
    );
  }
  return null;
}

// Codes of this project have a sentence; a handler's own codes speak by their message.
function meaningOf(reason: string | null): string {
  const known: Readonly<Record<string, string>> = errorCodes;
  return reason === null ? '' : (known[reason] ?? '');
}

interface NoteProps {
  readonly tone: 'bad' | 'warn' | 'later';
  readonly icon: IconName;
  readonly children: ReactNode;
}

function Note({ tone, icon, children }: NoteProps) {
  return (
    <div className={classes['note']} data-tone={tone}>
      <Icon name={icon} size={16} />
      <div className={classes['text']}>{children}</div>
    </div>
  );
}
