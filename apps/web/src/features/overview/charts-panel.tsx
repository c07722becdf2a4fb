import { SegmentedControl, Skeleton } from '@mantine/core';
import type { Timeseries } from '@holdfast/contract';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { statsQueries, timeRanges } from '../../api/stats.ts';
import type { TimeRange } from '../../api/stats.ts';
import { formatDurationAxis, formatDurationMs } from '../../format/duration.ts';
import { formatRate } from '../../format/number.ts';
import { TimeChart } from '../../ui/chart/time-chart.tsx';
import { Panel } from '../../ui/panel.tsx';
import { ErrorState } from '../../ui/states.tsx';
import classes from './charts-panel.module.css';
import { latencyData, throughputData } from './series.ts';

const route = getRouteApi('/shell/');

/** Throughput and latency over the chosen span. */
export function ChartsPanel() {
  const { range = '1h' } = route.useSearch();
  const timeseries = useQuery(statsQueries.timeseries(range));
  return (
    <div className={classes['charts']}>
      <Panel title="Jobs per minute" actions={<RangeControl range={range} />}>
        <ChartOf query={timeseries} draw={(data) => <ThroughputChart data={data} />} />
      </Panel>
      <Panel title="Wait and run time">
        <ChartOf query={timeseries} draw={(data) => <LatencyChart data={data} />} />
      </Panel>
    </div>
  );
}

function RangeControl({ range }: { readonly range: TimeRange }) {
  const navigate = route.useNavigate();
  return (
    <SegmentedControl
      size="xs"
      aria-label="Time span"
      value={range}
      data={Object.entries(timeRanges).map(([value, { label }]) => ({ value, label }))}
      onChange={(value) => {
        void navigate({
          // The control only offers the names of the spans.
          search: (before) => ({ ...before, range: value as TimeRange }),
          replace: true,
        });
      }}
    />
  );
}

interface ChartOfProps {
  readonly query: {
    readonly data: Timeseries | undefined;
    readonly error: unknown;
    readonly isError: boolean;
    readonly refetch: () => unknown;
  };
  readonly draw: (data: Timeseries) => ReactNode;
}

function ChartOf({ query, draw }: ChartOfProps) {
  if (query.data !== undefined) return draw(query.data);
  if (query.isError) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
  return <Skeleton height={224} />;
}

function ThroughputChart({ data }: { readonly data: Timeseries }) {
  const chart = useMemo(() => throughputData(data), [data]);
  return (
    <TimeChart
      data={chart}
      label="Jobs per minute over time, done and failed"
      formatValue={formatRate}
    />
  );
}

function LatencyChart({ data }: { readonly data: Timeseries }) {
  const chart = useMemo(() => latencyData(data), [data]);
  return (
    <TimeChart
      data={chart}
      label="Median and 95th percentile of waiting and running times"
      formatValue={formatDurationMs}
      formatAxis={formatDurationAxis}
    />
  );
}
