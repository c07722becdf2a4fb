import { executionStatuses } from '@holdfast/domain';
import { z } from 'zod';
import { Id, Instant } from './values.ts';
import { MaybeInstant, queryInteger } from './paging.ts';

/** Why an attempt failed. `fingerprint` groups errors that are alike. */
export const AttemptError = z
  .object({
    code: z.string(),
    message: z.string(),
    stack: z.string().nullable(),
    fingerprint: z.string().nullable(),
  })
  .meta({ id: 'AttemptError' });

/**
 * One run of a job: from its claim to its end. An interrupted one keeps `status: "running"`, has no `finishedAt`, and
 * `leaseLostAt` says since when.
 */
export const Execution = z
  .object({
    seq: z.int(),
    attempt: z.int(),
    generation: z.int(),
    status: z.enum(executionStatuses),
    workerId: Id.nullable(),
    claimedAt: Instant,
    startedAt: MaybeInstant,
    finishedAt: MaybeInstant,
    leaseLostAt: MaybeInstant,
    durationMs: z.number().nullable(),
    error: AttemptError.nullable(),
    nextDelayMs: z.number().nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'Execution' });

/** One run of a job. */
export type Execution = z.infer<typeof Execution>;

/** The levels of a log line. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

/** One log line that a handler wrote. */
export const LogLine = z
  .object({
    executionSeq: z.int(),
    line: z.int(),
    at: Instant,
    level: z.enum(logLevels),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'LogLine' });

/** One log line that a handler wrote. */
export type LogLine = z.infer<typeof LogLine>;

/** `GET …/jobs/{id}/logs` */
export const LogsQuery = z.strictObject({
  execution: queryInteger(1, 2_147_483_647).optional(),
  limit: queryInteger(1, 200).default(200),
  cursor: z.string().max(1024).optional(),
});
