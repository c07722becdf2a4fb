import { Skeleton } from '@mantine/core';
import type { JobDetail } from '@holdfast/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { isNotFound } from '../../api/describe-error.ts';
import { jobQueries } from '../../api/jobs.ts';
import { shortId } from '../../format/id.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { LinkButton } from '../../ui/link-button.tsx';
import { Page, PageTitle } from '../../ui/page.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, ErrorState } from '../../ui/states.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { JobActions } from './job-actions.tsx';
import { JobFacts } from './job-facts.tsx';
import classes from './job-page.module.css';
import { JobNote } from './job-note.tsx';
import { JobTabs } from './job-tabs.tsx';
import { TimelinePanel } from './timeline/timeline-panel.tsx';

const route = getRouteApi('/shell/jobs/$jobId');

/** One job: what became of it, when, and what can be done with it. */
export function JobPage() {
  const { jobId } = route.useParams();
  const job = useQuery(jobQueries.one(jobId));
  if (job.data !== undefined) return <JobBody job={job.data} />;
  return (
    <Page title="Job" documentTitle={`Job ${shortId(jobId)}`}>
      {!job.isError ? (
        <JobSkeleton />
      ) : isNotFound(job.error) ? (
        <Panel>
          <EmptyState
            icon="search"
            title="There is no such job"
            action={<LinkButton to="/jobs">Go to the jobs</LinkButton>}
          >
            No job has the id <code>{jobId}</code>. It may have been deleted after its retention.
          </EmptyState>
        </Panel>
      ) : (
        <Panel>
          <ErrorState error={job.error} onRetry={() => void job.refetch()} />
        </Panel>
      )}
    </Page>
  );
}

function JobBody({ job }: { readonly job: JobDetail }) {
  return (
    <Page
      title={job.type}
      documentTitle={`${job.type} ${shortId(job.id)}`}
      heading={
        <div className={classes['heading']}>
          <PageTitle>{job.type}</PageTitle>
          <StatusBadge status={job.status} />
        </div>
      }
      subtitle={
        <>
          <code className={classes['id']}>{job.id}</code>
          <CopyButton text={job.id} label="Copy the job’s id" />
        </>
      }
      actions={<JobActions job={job} />}
    >
      <JobNote job={job} />
      <div className={classes['columns']}>
        <div className={classes['main']}>
          <TimelinePanel job={job} />
          <JobTabs job={job} />
        </div>
        <JobFacts job={job} />
      </div>
    </Page>
  );
}

function JobSkeleton() {
  return (
    <div className={classes['main']} role="status" aria-label="Loading">
      <Skeleton height={170} radius={8} />
      <Skeleton height={280} radius={8} />
    </div>
  );
}
