import uPlot from 'uplot';
import type { ChartData, ChartSeries } from './chart-data.ts';

/** What the options of a chart are made from. */
export interface ChartLook {
  readonly data: ChartData;
  readonly width: number;
  readonly height: number;
  /** The element whose CSS variables give the colours. */
  readonly element: HTMLElement;
  /** Writes a value of the vertical axis; must be short. */
  readonly formatAxis: (value: number) => string;
  /** Called with the index under the pointer, or undefined when it has left. */
  readonly onCursor: (index: number | undefined) => void;
}

const daySeconds = 86_400;
const font = '11px ui-sans-serif, system-ui, "Open Sans", sans-serif';

function axisTimes(rangeS: number): uPlot.Axis.DynamicValues {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...(rangeS > 3 * daySeconds
      ? { day: '2-digit', month: 'short' }
      : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  });
  return (_, splits) => splits.map((second) => format.format(new Date(second * 1000)));
}

function lineSeries(series: ChartSeries, color: string): uPlot.Series {
  return {
    label: series.label,
    stroke: color,
    width: 1.5,
    ...(series.dashed === true ? { dash: [3, 3] } : {}),
    points: { show: false },
    spanGaps: false,
  };
}

const barsPath = uPlot.paths.bars?.({ size: [0.72, 18], align: 1, radius: 0.15 });

function barSeries(series: ChartSeries, color: string): uPlot.Series {
  return {
    label: series.label,
    fill: color,
    width: 0,
    points: { show: false },
    ...(barsPath === undefined ? {} : { paths: barsPath }),
  };
}

/** The options of the chart library for one chart: no legend, no zoom, colours from the theme. */
export function chartOptions(look: ChartLook): uPlot.Options {
  const styles = getComputedStyle(look.element);
  const color = (variable: string) => styles.getPropertyValue(variable).trim();
  const { timesS, series, shape } = look.data;
  const rangeS = (timesS.at(-1) ?? 0) - (timesS[0] ?? 0);
  const draw = shape === 'bars' ? barSeries : lineSeries;
  const axis = {
    stroke: color('--hf-text-dim'),
    font,
    grid: { stroke: color('--hf-chart-grid'), width: 1 },
    ticks: { show: false },
  };
  // Bars are sums: the tallest is drawn first and the others over it.
  const inOrder = shape === 'bars' ? [...series].reverse() : series;
  return {
    width: look.width,
    height: look.height,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { setScale: false, x: false, y: false },
      points: { show: shape === 'lines', size: 6 },
    },
    scales: { y: { range: (_, __, max) => [0, niceTop(max)] } },
    axes: [
      { ...axis, grid: { show: false }, values: axisTimes(rangeS), size: 26, gap: 6, space: 64 },
      {
        ...axis,
        values: (_, splits) => splits.map(look.formatAxis),
        size: 52,
        gap: 6,
        space: 34,
      },
    ],
    series: [{}, ...inOrder.map((one) => draw(one, color(one.colorVariable)))],
    hooks: {
      setCursor: [
        (plot) => {
          look.onCursor(plot.cursor.idx ?? undefined);
        },
      ],
    },
  };
}

function niceTop(max: number | null): number {
  return max === null || max <= 0 ? 1 : max * 1.08;
}
