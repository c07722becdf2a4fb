import { Tabs } from '@mantine/core';
import type { JobDetail } from '@holdfast/contract';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { JsonView } from '../../ui/json/json-view.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { JobErrors } from './job-errors.tsx';
import { JobLogs } from './job-logs.tsx';
import { jobTabs } from './job-search.ts';
import type { JobTab } from './job-search.ts';
import classes from './job-tabs.module.css';

const route = getRouteApi('/shell/jobs/$jobId');

const labels: Record<JobTab, string> = {
  payload: 'Payload',
  result: 'Result',
  errors: 'Errors',
  logs: 'Logs',
  details: 'Raw',
};

/** Payload, result, errors, logs, and the job as the API answers it. */
export function JobTabs({ job }: { readonly job: JobDetail }) {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  const errorCount = job.executions.filter((execution) => execution.error !== null).length;
  return (
    <Panel flush>
      <Tabs
        value={tab ?? 'payload'}
        onChange={(value) => {
          const next = jobTabs.find((one) => one === value);
          void navigate({ search: next === undefined ? {} : { tab: next }, replace: true });
        }}
      >
        <Tabs.List className={classes['list']}>
          {jobTabs.map((one) => (
            <Tabs.Tab key={one} value={one}>
              {labels[one]}
              {one === 'errors' && errorCount > 0 ? (
                <span className={classes['count']}>{errorCount}</span>
              ) : null}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {jobTabs.map((one) => (
          <Tabs.Panel key={one} value={one} className={classes['panel']}>
            {contentOf(one, job)}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Panel>
  );
}

function contentOf(tab: JobTab, job: JobDetail): ReactNode {
  switch (tab) {
    case 'payload':
      return <JsonView value={job.payload ?? null} label="payload" />;
    case 'result':
      return <Result job={job} />;
    case 'errors':
      return <JobErrors executions={job.executions} />;
    case 'logs':
      return <JobLogs jobId={job.id} />;
    case 'details':
      return <JsonView value={job} label="job" />;
  }
}

function Result({ job }: { readonly job: JobDetail }) {
  if (job.result !== null && job.result !== undefined) {
    return <JsonView value={job.result} label="result" />;
  }
  return (
    <EmptyState
      icon="check"
      title={job.status === 'completed' ? 'It gave no result' : 'No result yet'}
    >
      What a handler returns is kept here.
    </EmptyState>
  );
}
