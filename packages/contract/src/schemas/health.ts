import { z } from 'zod';
import { Instant } from './values.ts';

/** `GET /livez`: the process answers; says nothing about the database. */
export const Livez = z.object({ status: z.literal('ok') });

/** One thing that must be well for the process to serve. */
export const ReadyCheck = z.object({
  name: z.enum(['database', 'schema', 'draining']),
  ok: z.boolean(),
  detail: z.string().nullable(),
});

/** `GET /readyz`: 200 when every check is well, else 503 with the same body. */
export const Readyz = z.object({
  status: z.enum(['ok', 'unready']),
  checks: z.array(ReadyCheck).readonly(),
});

/** `GET /status`: what acknowledgements survive, which versions run, and how far the clocks are apart. */
export const Status = z
  .object({
    version: z.string(),
    node: z.string(),
    startedAt: Instant,
    database: z.object({
      version: z.string(),
      schemaVersion: z.int(),
      durable: z.boolean(),
      warnings: z.array(z.string()).readonly(),
      settings: z.record(z.string(), z.string()),
    }),
    clockSkewMs: z.number(),
  })
  .meta({ id: 'Status' });

/** The state of the installation. */
export type Status = z.infer<typeof Status>;
