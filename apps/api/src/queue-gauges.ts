import { findProject, listQueues, listWorkers } from '@holdfast/database';
import type { Dependencies } from './dependencies.ts';

const freshMs = 5_000;
const mostQueues = 1_000;

/**
 * Figures of the tables, read when somebody scrapes and at most every five seconds: only the API gives them, so that a
 * hundred workers do not count the same rows a hundred times. They are those of the project `default`.
 */
export function createQueueGauges({
  database,
  metrics,
  clock,
}: Pick<Dependencies, 'database' | 'metrics' | 'clock'>): () => Promise<void> {
  const jobs = metrics.gauge({
    name: 'queue_jobs',
    help: 'Jobs that can still change, by queue and status',
    labelNames: ['queue', 'status'],
  });
  const oldest = metrics.gauge({
    name: 'queue_oldest_job_age_seconds',
    help: 'How long the first job in line has been due',
    labelNames: ['queue'],
  });
  const paused = metrics.gauge({
    name: 'queue_paused',
    help: '1 while the queue is paused',
    labelNames: ['queue'],
  });
  const workers = metrics.gauge({ name: 'workers', help: 'Workers that beat' });
  let readAtMs = Number.NEGATIVE_INFINITY;

  return async () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - readAtMs < freshMs) return;
    readAtMs = nowMs;
    const project = await findProject(database, 'default');
    if (project === undefined) return;
    const rows = await listQueues(database, { projectId: project.id, limit: mostQueues });
    for (const gauge of [jobs, oldest, paused]) gauge.reset();
    for (const row of rows) {
      for (const [status, count] of Object.entries(row.counts)) {
        jobs.set(
          { queue: row.name, status: status === 'deadLetter' ? 'dead_letter' : status },
          count,
        );
      }
      oldest.set({ queue: row.name }, (row.oldestWaitMs ?? 0) / 1_000);
      paused.set({ queue: row.name }, row.paused === undefined ? 0 : 1);
    }
    const live = await listWorkers(database, project.id);
    workers.set(live.filter(({ lost }) => !lost).length);
  };
}
