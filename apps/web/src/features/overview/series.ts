import type { Timeseries } from '@holdfast/contract';
import type { ChartData } from '../../ui/chart/chart-data.ts';

const minuteMs = 60_000;

function timesOf(data: Timeseries): number[] {
  return data.points.map((point) => Date.parse(point.at) / 1000);
}

/** Ended jobs and failed attempts, per minute whatever the step. */
export function throughputData(data: Timeseries): ChartData {
  const perMinute = (count: number) => (count * minuteMs) / data.stepMs;
  return {
    timesS: timesOf(data),
    shape: 'bars',
    series: [
      {
        label: 'Done',
        colorVariable: '--hf-series-done',
        values: data.points.map((point) => perMinute(point.completed)),
      },
      {
        label: 'Failed',
        colorVariable: '--hf-series-failed',
        values: data.points.map((point) => perMinute(point.failed)),
      },
    ],
  };
}

/** Percentiles of how long jobs waited and ran; gaps where none did. */
export function latencyData(data: Timeseries): ChartData {
  const wait = { colorVariable: '--hf-series-wait' };
  const run = { colorVariable: '--hf-series-run' };
  const { points } = data;
  return {
    timesS: timesOf(data),
    shape: 'lines',
    series: [
      { ...wait, label: 'Wait p95', values: points.map(({ waitMs }) => waitMs.p95) },
      { ...wait, label: 'Wait p50', dashed: true, values: points.map(({ waitMs }) => waitMs.p50) },
      { ...run, label: 'Run p95', values: points.map(({ runMs }) => runMs.p95) },
      { ...run, label: 'Run p50', dashed: true, values: points.map(({ runMs }) => runMs.p50) },
    ],
  };
}
