/** One line or one kind of bar. All series of a chart have one value for each time. */
export interface ChartSeries {
  readonly label: string;
  /** The CSS variable that has its colour, such as `--hf-series-done`. */
  readonly colorVariable: string;
  /** Null where nothing was measured. */
  readonly values: readonly (number | null)[];
  readonly dashed?: boolean;
}

/** What a chart shows. */
export interface ChartData {
  /** The beginnings of the steps, in epoch seconds, ascending. */
  readonly timesS: readonly number[];
  readonly series: readonly ChartSeries[];
  /** `bars` stand on each other, the first series at the ground. */
  readonly shape: 'bars' | 'lines';
}

/**
 * Turns values into the heights that are drawn: for bars the sums up to and including each series, so that the tallest
 * can be drawn first and the others before it.
 */
export function drawnValues(data: ChartData): (number | null)[][] {
  if (data.shape === 'lines') return data.series.map((series) => [...series.values]);
  const ground = data.timesS.map(() => 0);
  return data.series.map((series) =>
    ground.map((_, index) => {
      ground[index] = (ground[index] ?? 0) + (series.values[index] ?? 0);
      return ground[index] ?? 0;
    }),
  );
}
