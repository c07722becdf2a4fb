import { jobStatuses } from '@holdfast/domain';
import type { JobStatus } from '@holdfast/domain';
import type { Overview } from '@holdfast/contract';
import { useQuery } from '@tanstack/react-query';
import { statsQueries } from '../../api/stats.ts';
import { formatCount } from '../../format/number.ts';
import { Icon } from '../../ui/icon.tsx';
import { jobStatusLook } from '../../ui/status-look.ts';
import classes from './status-filter.module.css';

interface StatusFilterProps {
  readonly selected: readonly JobStatus[];
  readonly onChange: (selected: readonly JobStatus[] | undefined) => void;
}

type Counts = Overview['counts'];

// Completed and cancelled jobs are not counted: there may be millions.
const countOf: Record<JobStatus, (counts: Counts) => number | undefined> = {
  queued: (counts) => counts.queued,
  scheduled: (counts) => counts.scheduled,
  claimed: (counts) => counts.claimed,
  running: (counts) => counts.running,
  completed: () => undefined,
  failed: (counts) => counts.failed,
  dead_letter: (counts) => counts.deadLetter,
  cancelled: () => undefined,
};

/** The statuses to show, each with how many jobs have it. None chosen means all. */
export function StatusFilter({ selected, onChange }: StatusFilterProps) {
  const overview = useQuery(statsQueries.overview());
  const toggle = (status: JobStatus) => {
    const next = selected.includes(status)
      ? selected.filter((one) => one !== status)
      : [...selected, status];
    onChange(next.length === 0 ? undefined : next);
  };
  return (
    <div className={classes['bar']} role="group" aria-label="Status">
      <button
        type="button"
        className={classes['chip']}
        aria-pressed={selected.length === 0}
        onClick={() => {
          onChange(undefined);
        }}
      >
        All
      </button>
      {jobStatuses.map((status) => {
        const look = jobStatusLook[status];
        const count =
          overview.data === undefined ? undefined : countOf[status](overview.data.counts);
        return (
          <button
            key={status}
            type="button"
            className={classes['chip']}
            data-tone={look.tone}
            aria-pressed={selected.includes(status)}
            title={look.meaning}
            onClick={() => {
              toggle(status);
            }}
          >
            <Icon name={look.icon} size={13} />
            {look.label}
            {count === undefined ? null : (
              <span className={classes['count']}>{formatCount(count)}</span>
            )}
          </button>
        );
      })}
    </div>
  );
}
