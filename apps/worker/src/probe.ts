import { readServer } from '@holdfast/database';
import { answerCheck, createProbeServer } from '@holdfast/runtime';
import type { Database } from '@holdfast/database';
import type { HealthCheck, Metrics, Service } from '@holdfast/runtime';
import type { WorkerEngine } from '@holdfast/worker';
import type { WorkerConfig } from './config.ts';

/** The health probes and metrics of a worker process: no services when no port is configured. */
export function createProbe(options: {
  readonly config: WorkerConfig;
  readonly database: Database;
  readonly worker: WorkerEngine;
  readonly metrics: Metrics;
}): { readonly services: readonly Service[]; readonly markDraining: () => void } {
  const { config, database, worker, metrics } = options;
  if (config.probePort === undefined) return { services: [], markDraining: () => undefined };
  const mode: HealthCheck = {
    name: 'worker',
    check: () => (worker.mode === 'stopping' ? 'stopping' : undefined),
  };
  const probe = createProbeServer({
    port: config.probePort,
    live: [],
    ready: [mode, answerCheck('database', () => readServer(database))],
    metrics,
  });
  return {
    services: [probe],
    markDraining: () => {
      probe.markDraining();
    },
  };
}
