import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Overview } from '@holdfast/contract';
import { statsQueries } from '../../api/stats.ts';
import { Page } from '../../ui/page.tsx';
import { ErrorState } from '../../ui/states.tsx';
import { AttentionPanel } from './attention-panel.tsx';
import { ChartsPanel } from './charts-panel.tsx';
import { FirstSteps } from './first-steps.tsx';
import { HeadFigures } from './head-figures.tsx';
import classes from './overview-page.module.css';
import { NextFiresPanel } from './next-fires-panel.tsx';
import { QueueSizesPanel } from './queue-sizes-panel.tsx';
import { WorkerHealthPanel } from './worker-health-panel.tsx';

/** The state of everything at a glance, and what needs a person. */
export function OverviewPage() {
  const overview = useQuery(statsQueries.overview());
  return (
    <Page title="Overview">
      {overview.data !== undefined ? (
        <OverviewBody overview={overview.data} />
      ) : overview.isError ? (
        <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />
      ) : (
        <OverviewSkeleton />
      )}
    </Page>
  );
}

function isUntouched(overview: Overview): boolean {
  const { counts, rates } = overview;
  const waiting = Object.values(counts).some((count) => count > 0);
  return !waiting && rates.completedPerMinute === 0;
}

function OverviewBody({ overview }: { readonly overview: Overview }) {
  return (
    <>
      <HeadFigures overview={overview} />
      {isUntouched(overview) ? <FirstSteps hasWorker={overview.workers.active > 0} /> : null}
      <AttentionPanel attention={overview.attention} />
      <ChartsPanel />
      <div className={classes['columns']}>
        <QueueSizesPanel queues={overview.queues} />
        <div className={classes['side']}>
          <WorkerHealthPanel workers={overview.workers} />
          <NextFiresPanel />
        </div>
      </div>
    </>
  );
}

function OverviewSkeleton() {
  return (
    <div className={classes['skeleton']} role="status" aria-label="Loading">
      <Skeleton height={76} radius={8} />
      <Skeleton height={270} radius={8} />
      <Skeleton height={220} radius={8} />
    </div>
  );
}
