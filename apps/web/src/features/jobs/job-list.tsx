import { Button } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { plural } from '../../format/number.ts';
import { TableSkeleton } from '../../ui/data-table.tsx';
import { Icon } from '../../ui/icon.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { isFiltered } from './job-filter.ts';
import classes from './job-list.module.css';
import { JobsTable } from './jobs-table.tsx';
import type { JobsSearch } from './jobs-search.ts';
import { useJobFeed } from './use-job-feed.ts';

interface JobListProps {
  readonly search: JobsSearch;
  readonly onCreate: () => void;
}

/** One page of jobs, which is kept up to date without moving. */
export function JobList({ search, onCreate }: JobListProps) {
  const { feed, query, showNewer } = useJobFeed(search);
  if (feed === undefined) {
    return (
      <Panel flush>
        {query.isError ? (
          <ErrorState error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <TableSkeleton rows={12} />
        )}
      </Panel>
    );
  }
  return (
    <>
      <Panel flush>
        {feed.newerCount > 0 && search.cursor === undefined ? (
          <button type="button" className={classes['newer']} onClick={showNewer}>
            Show {plural(feed.newerCount, 'newer job')}
          </button>
        ) : null}
        {feed.rows.length === 0 ? (
          <NoJobs search={search} onCreate={onCreate} />
        ) : (
          <JobsTable rows={feed.rows} />
        )}
      </Panel>
      <Pager search={search} nextCursor={feed.nextCursor} />
    </>
  );
}

function NoJobs({ search, onCreate }: JobListProps) {
  if (isFiltered(search)) {
    return (
      <EmptyState
        icon="search"
        title="No job matches"
        action={<LinkButton to="/jobs">Clear filters</LinkButton>}
      >
        Completed and cancelled jobs are kept for a week; older ones are gone.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="jobs"
      title="No job yet"
      action={<Button onClick={onCreate}>Create a job</Button>}
    >
      Enqueue one from a program over the API, or create one here to see how it runs.
    </EmptyState>
  );
}

interface PagerProps {
  readonly search: JobsSearch;
  readonly nextCursor: string | null;
}

function Pager({ search, nextCursor }: PagerProps) {
  const router = useRouter();
  if (nextCursor === null && search.cursor === undefined) return null;
  const { cursor, ...newest } = search;
  return (
    <nav className={classes['pager']} aria-label="Pages of jobs">
      {cursor === undefined ? null : (
        <>
          <LinkButton to="/jobs" search={newest}>
            Newest
          </LinkButton>
          <Button
            leftSection={<Icon name="chevronLeft" size={14} />}
            onClick={() => {
              router.history.back();
            }}
          >
            Back
          </Button>
        </>
      )}
      {nextCursor === null ? null : (
        <LinkButton
          to="/jobs"
          search={{ ...newest, cursor: nextCursor }}
          rightSection={<Icon name="chevronRight" size={14} />}
        >
          Older
        </LinkButton>
      )}
    </nav>
  );
}
