import type { JobInput } from '@holdfast/contract';
import { resolveQueues } from '@holdfast/database';
import type { Database, NewJob } from '@holdfast/database';
import { defaultRetryPolicy, uuidV7 } from '@holdfast/domain';
import type { RetryPolicy } from '@holdfast/domain';
import type { Clock } from '@holdfast/runtime';
import { requireNotFar } from './http/clock-checks.ts';
import { jobBytes } from './http/parse-body.ts';
import { HttpProblem } from './http/problem.ts';
import { retryFromInput } from './retry-from-input.ts';

/** Where the jobs go, and what their fields are called in problems. */
export interface JobsContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly projectId: string;
  /** The JSON pointer of the job at an index. */
  readonly pointerOf: (index: number) => string;
}

/**
 * Makes the jobs that the inputs describe.
 *
 * @throws HttpProblem when a payload is too large, or an instant too far
 */
export async function jobsFromInput(
  context: JobsContext,
  inputs: readonly JobInput[],
): Promise<readonly NewJob[]> {
  const names = [...new Set(inputs.map((input) => input.queue))];
  const queues = await resolveQueues(context.database, context.projectId, names);
  return inputs.map((input, index) => {
    // Written by this API and the SDK only, in the form of the domain.
    const stored = queues.get(input.queue)?.jobDefaults.retry as RetryPolicy | null | undefined;
    const pointer = context.pointerOf(index);
    return jobFromInput(input, { ...context, pointer, queueRetry: stored ?? defaultRetryPolicy });
  });
}

interface OneJobContext {
  readonly clock: Clock;
  readonly pointer: string;
  readonly queueRetry: RetryPolicy;
}

function jobFromInput(input: JobInput, context: OneJobContext): NewJob {
  const { clock, pointer } = context;
  const nowMs = clock.nowMs();
  const runAt = requireNotFar(input.runAt, { pointer: `${pointer}/runAt`, clock });
  return {
    id: uuidV7(nowMs),
    queue: input.queue,
    type: input.type,
    payloadJson: payloadJsonOf(input.payload, pointer),
    payloadVersion: input.payloadVersion,
    priority: input.priority,
    maxAttempts: input.maxAttempts,
    timeoutMs: input.timeout,
    retry: retryOf(input, context),
    tags: input.tags,
    metadataJson:
      Object.keys(input.metadata).length === 0 ? undefined : JSON.stringify(input.metadata),
    // The past means now: such a job goes straight into the line.
    runAt: runAt !== undefined && runAt.getTime() > nowMs ? runAt : undefined,
    delayMs: input.delay ?? undefined,
    ...startDeadlineOf(input, context),
  };
}

function startDeadlineOf(
  { startDeadline }: Pick<JobInput, 'startDeadline'>,
  { pointer, clock }: OneJobContext,
): Pick<NewJob, 'startDeadlineAt' | 'startDeadlineMs'> {
  if (startDeadline == null) return {};
  return 'ms' in startDeadline
    ? { startDeadlineMs: startDeadline.ms }
    : {
        startDeadlineAt: requireNotFar(startDeadline.at, {
          pointer: `${pointer}/startDeadline`,
          clock,
        }),
      };
}

/**
 * A payload as it is stored.
 *
 * @throws HttpProblem `payload_too_large`
 */
export function payloadJsonOf(payload: unknown, pointer: string): string {
  const json = JSON.stringify(payload ?? {});
  if (Buffer.byteLength(json) <= jobBytes) return json;
  throw new HttpProblem('payload_too_large', {
    detail: `A payload may have ${String(jobBytes)} bytes; store large data elsewhere and send a reference`,
    errors: [{ pointer: `${pointer}/payload`, detail: 'is too large' }],
  });
}

/** The retry policy that a job names, completed by its queue's; `undefined` when it names none. */
function retryOf(input: JobInput, context: OneJobContext): RetryPolicy | undefined {
  const { queueRetry, pointer, clock } = context;
  const end = input.retryUntil ?? undefined;
  if (end !== undefined && 'at' in end) {
    requireNotFar(end.at, { pointer: `${pointer}/retryUntil`, clock });
  }
  const named = retryFromInput({ ...input, retryUntil: end });
  return named && { ...queueRetry, ...named };
}
