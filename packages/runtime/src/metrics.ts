/** A metric's name without prefix, what it means, and the labels that it is split by. */
export interface MetricOptions<Label extends string> {
  /** Without the prefix: `jobs_finished_total` is exported as `holdfast_jobs_finished_total`. */
  readonly name: string;
  readonly help: string;
  /** Few values each; never a job id or a tenant. */
  readonly labelNames?: readonly Label[];
}

/** As `MetricOptions`, with the upper bounds of the histogram's buckets. */
export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** In the metric's own unit, usually seconds; default 5 ms to 5 min. */
  readonly buckets?: readonly number[];
}

/** A value for each label that is given. */
export type LabelValues<Label extends string> = Readonly<Partial<Record<Label, string | number>>>;

/** A figure that only grows, by 1 unless told otherwise. */
export interface Counter<Label extends string> {
  inc(value?: number): void;
  inc(labels: LabelValues<Label>, value?: number): void;
}

/** A figure that goes up and down. */
export interface Gauge<Label extends string> {
  set(value: number): void;
  set(labels: LabelValues<Label>, value: number): void;
  /** Forgets the values of all labels. */
  reset(): void;
}

/** How values are spread. */
export interface Histogram<Label extends string> {
  observe(value: number): void;
  observe(labels: LabelValues<Label>, value: number): void;
}

/** The process's metrics. Asking twice for one name gives the same metric. */
export interface Metrics {
  readonly contentType: string;
  counter<Label extends string = never>(options: MetricOptions<Label>): Counter<Label>;
  gauge<Label extends string = never>(options: MetricOptions<Label>): Gauge<Label>;
  histogram<Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label>;
  /** All metrics in Prometheus' text format. */
  render(): Promise<string>;
}
