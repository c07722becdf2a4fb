import { z } from 'zod';
import { Id, Instant } from './values.ts';

/** How a worker stands: `quiet` claims no more, `stopping` ends soon, `lost` has missed its heartbeats. */
export const workerStatuses = ['active', 'quiet', 'stopping', 'lost'] as const;

/** A worker process: one boot of it has one id. */
export const Worker = z
  .object({
    id: Id,
    host: z.string(),
    pid: z.int(),
    build: z.string().nullable(),
    labels: z.record(z.string(), z.string()),
    queues: z.array(z.string()).readonly().meta({ description: 'Their names, or "*" for all.' }),
    types: z.array(z.string()).readonly().meta({
      description:
        'The job types that it takes; "a" stands for payloads of version 1, "a@2" for those of version 2.',
    }),
    startedAt: Instant,
    heartbeatAt: Instant,
    status: z.enum(workerStatuses),
    slots: z.int(),
    running: z.array(Id).readonly(),
    rssBytes: z.number().nullable(),
    loopLagMs: z.number().nullable(),
  })
  .meta({ id: 'Worker' });

/** A worker process. */
export type Worker = z.infer<typeof Worker>;
