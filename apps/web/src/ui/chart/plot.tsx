import { useComputedColorScheme } from '@mantine/core';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { drawnValues } from './chart-data.ts';
import type { ChartData } from './chart-data.ts';
import { chartOptions } from './chart-options.ts';
import classes from './chart.module.css';

interface PlotProps {
  readonly data: ChartData;
  readonly label: string;
  readonly height: number;
  readonly formatAxis: (value: number) => string;
  readonly onCursor: (index: number | undefined) => void;
}

/** What makes a new plot necessary; other changes only bring new numbers. */
function shapeKey(data: ChartData): string {
  const rangeS = (data.timesS.at(-1) ?? 0) - (data.timesS[0] ?? 0);
  return `${data.shape} ${String(rangeS)} ${data.series.map((series) => series.label).join(' ')}`;
}

function alignedData(data: ChartData): uPlot.AlignedData {
  const values = drawnValues(data);
  return [[...data.timesS], ...(data.shape === 'bars' ? values.reverse() : values)];
}

/** The canvas of a chart: made again when its shape or the colour scheme changes, else fed with new numbers. */
export function Plot({ data, label, height, formatAxis, onCursor }: PlotProps) {
  const container = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef({ data, formatAxis, onCursor });
  const scheme = useComputedColorScheme('light');
  const shape = shapeKey(data);

  useEffect(() => {
    latest.current = { data, formatAxis, onCursor };
    plot.current?.setData(alignedData(data));
  }, [data, formatAxis, onCursor]);

  useEffect(() => {
    const element = container.current;
    if (element === null) return;
    const made = new uPlot(
      chartOptions({
        data: latest.current.data,
        width: element.clientWidth,
        height,
        element,
        formatAxis: (value) => latest.current.formatAxis(value),
        onCursor: (index) => {
          latest.current.onCursor(index);
        },
      }),
      alignedData(latest.current.data),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape, scheme, height]);

  return <div ref={container} className={classes['plot']} role="img" aria-label={label} />;
}
