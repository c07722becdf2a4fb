import { formatMinute } from '../../format/time.ts';
import type { ChartData } from './chart-data.ts';
import classes from './chart.module.css';

interface ChartTableProps {
  readonly data: ChartData;
  readonly label: string;
  readonly formatValue: (value: number) => string;
  readonly height: number;
}

/** The numbers of a chart, newest first. */
export function ChartTable({ data, label, formatValue, height }: ChartTableProps) {
  const newestFirst = data.timesS.map((second, index) => ({ second, index })).reverse();
  return (
    <div
      className={classes['tableScroller']}
      style={{ height }}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <table className={classes['table']}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {data.series.map((series) => (
              <th key={series.label} scope="col">
                {series.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newestFirst.map(({ second, index }) => (
            <tr key={second}>
              <td>{formatMinute(new Date(second * 1000).toISOString())}</td>
              {data.series.map((series) => {
                const value = series.values[index] ?? null;
                return <td key={series.label}>{value === null ? '–' : formatValue(value)}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
