import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { HistogramOptions, MetricOptions, Metrics } from './metrics.ts';

const prefix = 'holdfast_';
const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Creates an empty registry; `processMetrics: true` adds event-loop lag, memory and collector figures of Node. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry();
  if (options.processMetrics === true) collectDefaultMetrics({ register: registry, prefix });
  const shared = <L extends string>({ name, help, labelNames = [] }: MetricOptions<L>) => ({
    name: prefix + name,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    contentType: registry.contentType,
    counter: <L extends string>(metric: MetricOptions<L>) =>
      known(registry, prefix + metric.name, Counter<L>) ?? new Counter<L>(shared(metric)),
    gauge: <L extends string>(metric: MetricOptions<L>) =>
      known(registry, prefix + metric.name, Gauge<L>) ?? new Gauge<L>(shared(metric)),
    histogram: <L extends string>(metric: HistogramOptions<L>) =>
      known(registry, prefix + metric.name, Histogram<L>) ??
      new Histogram<L>({ ...shared(metric), buckets: [...(metric.buckets ?? defaultBuckets)] }),
    render: () => registry.metrics(),
  };
}

function known<T>(
  registry: Registry,
  name: string,
  kind: abstract new (...parameters: never[]) => T,
): T | undefined {
  const metric: unknown = registry.getSingleMetric(name);
  if (metric === undefined) return undefined;
  if (metric instanceof kind) return metric;
  throw new TypeError(`Metric ${name} exists already as another kind`);
}
