import type { ExecutionStatus } from '@holdfast/domain';
import type { Metrics } from '@holdfast/runtime';
import type { HeldJob } from './held-job.ts';

/** How an execution ended, as a label: its status, or `late` when the lease was lost before its end was stored. */
export type ExecutionOutcome = Exclude<ExecutionStatus, 'running'> | 'late';

/** What a worker exports about the jobs that it ran. */
export interface WorkerMetrics {
  /** Counts an execution whose end was stored, or came too late. */
  count(job: HeldJob, outcome: ExecutionOutcome): void;
  /** Sets the figures about slots; called before each heartbeat. */
  slots(figures: { readonly all: number; readonly busy: number; readonly stuck: number }): void;
}

/** Makes the metrics of a worker. Labels are queue and type, never ids. */
export function createWorkerMetrics(metrics: Metrics): WorkerMetrics {
  const executions = metrics.counter({
    name: 'job_executions_total',
    help: 'Executions that ended in this worker, by how',
    labelNames: ['queue', 'type', 'outcome'] as const,
  });
  const duration = metrics.histogram({
    name: 'job_duration_seconds',
    help: 'How long handlers ran',
    labelNames: ['queue', 'type'] as const,
  });
  const wait = metrics.histogram({
    name: 'job_wait_seconds',
    help: 'How long jobs were due before they were claimed',
    labelNames: ['queue'] as const,
  });
  const slots = metrics.gauge({
    name: 'worker_slots',
    help: 'Handlers that may run at once, and how many do',
    labelNames: ['state'] as const,
  });
  return {
    count: (job, outcome) => {
      const { queueName: queue } = job;
      const { type, waitMs } = job.claimed;
      executions.inc({ queue, type, outcome });
      wait.observe({ queue }, Math.max(0, waitMs) / 1_000);
      if (job.startedAtMs === 0) return;
      duration.observe({ queue, type }, Math.max(0, job.finishedAtMs - job.startedAtMs) / 1_000);
    },
    slots: ({ all, busy, stuck }) => {
      slots.set({ state: 'all' }, all);
      slots.set({ state: 'busy' }, busy);
      slots.set({ state: 'stuck' }, stuck);
    },
  };
}
