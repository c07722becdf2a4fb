import { ActionIcon, Tooltip } from '@mantine/core';
import { Suspense, lazy, useState } from 'react';
import { formatMinute } from '../../format/time.ts';
import { FallbackBoundary } from '../fallback-boundary.tsx';
import { Icon } from '../icon.tsx';
import type { ChartData, ChartSeries } from './chart-data.ts';
import { ChartTable } from './chart-table.tsx';
import classes from './chart.module.css';

// The chart library comes after the page: it is large, and its numbers can be read without it.
const Plot = lazy(async () => ({ default: (await import('./plot.tsx')).Plot }));

interface TimeChartProps {
  readonly data: ChartData;
  /** What it shows, in one sentence, for screen readers. */
  readonly label: string;
  readonly formatValue: (value: number) => string;
  /** The same for the axis, where there is less room; `formatValue` unless given. */
  readonly formatAxis?: (value: number) => string;
  readonly height?: number;
}

/** A chart over time with its legend, which reads out the values under the pointer, and a table in its place on demand. */
export function TimeChart(props: TimeChartProps) {
  const { data, label, formatValue, formatAxis = formatValue, height = 200 } = props;
  const [cursor, setCursor] = useState<number>();
  const [asTable, setAsTable] = useState(false);
  const cursorAt = cursor === undefined ? undefined : data.timesS[cursor];
  const table = <ChartTable data={data} label={label} formatValue={formatValue} height={height} />;
  return (
    <div className={classes['chart']}>
      <div className={classes['legend']}>
        {data.series.map((series) => (
          <LegendItem
            key={series.label}
            series={series}
            value={cursor === undefined ? undefined : (series.values[cursor] ?? null)}
            formatValue={formatValue}
          />
        ))}
        <span className={classes['cursorTime']}>
          {cursorAt === undefined ? '' : formatMinute(new Date(cursorAt * 1000).toISOString())}
        </span>
        <Tooltip label={asTable ? 'Show as chart' : 'Show as table'}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={asTable ? 'Show as chart' : 'Show as table'}
            aria-pressed={asTable}
            onClick={() => {
              setAsTable(!asTable);
            }}
          >
            <Icon name={asTable ? 'overview' : 'jobs'} size={14} />
          </ActionIcon>
        </Tooltip>
      </div>
      {asTable ? (
        table
      ) : (
        <FallbackBoundary fallback={table}>
          <Suspense fallback={<div style={{ height }} />}>
            <Plot
              data={data}
              label={label}
              height={height}
              formatAxis={formatAxis}
              onCursor={setCursor}
            />
          </Suspense>
        </FallbackBoundary>
      )}
    </div>
  );
}

interface LegendItemProps {
  readonly series: ChartSeries;
  readonly value: number | null | undefined;
  readonly formatValue: (value: number) => string;
}

function LegendItem({ series, value, formatValue }: LegendItemProps) {
  const reading = value === undefined ? '' : value === null ? '–' : formatValue(value);
  return (
    <span className={classes['legendItem']}>
      <svg width="12" height="10" viewBox="0 0 12 10" aria-hidden="true">
        <line
          x1="0"
          x2="12"
          y1="5"
          y2="5"
          strokeWidth="3"
          strokeDasharray={series.dashed === true ? '3 2' : undefined}
          style={{ stroke: `var(${series.colorVariable})` }}
        />
      </svg>
      {series.label}
      <b>{reading}</b>
    </span>
  );
}
