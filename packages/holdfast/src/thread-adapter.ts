import type { ParentOutput } from '@holdfast/database';
import { HoldfastError } from '@holdfast/domain';
import type { JobHandler, ThreadJobContext } from '@holdfast/worker';
import type { BatchInfo } from './batches/batch-info.ts';
import { createJobContext } from './create-job-context.ts';
import type { EnqueueResult } from './enqueue-result.ts';
import type { EmitResult } from './event-calls.ts';
import type { JobDefinition } from './job-definition.ts';
import type { JobOptions } from './job-options.ts';
import type { JobRelations } from './job-relations.ts';
import { OptionCheck } from './check-options.ts';
import { refuseOwnVersion } from './job-fields.ts';
import { isPlain, readPayload } from './payload-versions.ts';
import { optionsOfDefaults } from './read-job-defaults.ts';
import type { RegisteredTransaction } from './register.ts';
import { validatePayload } from './validate-payload.ts';

/**
 * Makes a handler of a definition; runs in the thread. The schema is applied here, since what it makes of a payload may
 * be nothing that can be copied.
 */
export function adaptHandler(found: JobDefinition, type: string): JobHandler {
  return async (payload, context) => {
    // The engine gives handlers of threads the context of the thread.
    const thread = context as ThreadJobContext;
    const checked = isPlain(found)
      ? payload
      : await readPayload({ ...found, type }, payload, thread.job.payloadVersion);
    const ctx = createJobContext<RegisteredTransaction>(thread, {
      enqueue: (job: JobDefinition | string, childPayload?: unknown, options?: JobOptions) =>
        enqueueByMain(thread, { job, payload: childPayload, options: options ?? {} }),
      emit: async (event: string, ...[data]: [data?: unknown, options?: unknown]) =>
        (await thread.call('emit', event, data)) as EmitResult,
      relations: relationsByMain(thread),
    });
    return found.run?.(checked, ctx);
  };
}

/** What the main thread reads of the job's batch and parents. */
function relationsByMain(thread: ThreadJobContext): JobRelations<RegisteredTransaction> {
  return {
    readParents: async () => (await thread.call('parents')) as readonly ParentOutput[],
    batches: {
      get: async () => toBatchInfo((await thread.call('batch')) as BatchInfo),
      add: () =>
        Promise.reject(
          new HoldfastError('A handler in a thread cannot add to its batch', {
            code: 'not_in_thread',
          }),
        ),
    },
  };
}

/** On its way to the thread it was JSON, which has no instants and leaves out what is `undefined`. */
function toBatchInfo(json: BatchInfo): BatchInfo {
  return {
    ...json,
    name: json.name,
    parentId: json.parentId,
    createdAt: new Date(json.createdAt),
    finishedAt: toInstant(json.finishedAt),
    cancelledAt: toInstant(json.cancelledAt),
    callbacks: json.callbacks.map((callback) => ({
      ...callback,
      percent: callback.percent,
      enqueuedAt: toInstant(callback.enqueuedAt),
      endedAt: toInstant(callback.endedAt),
    })),
  };
}

function toInstant(json: Date | undefined): Date | undefined {
  return json === undefined ? undefined : new Date(json);
}

/** A definition cannot be copied to the main thread; what it says can. */
async function enqueueByMain(
  thread: ThreadJobContext,
  { job, payload, options }: { job: JobDefinition | string; payload: unknown; options: JobOptions },
): Promise<EnqueueResult<never>> {
  const [type, said] =
    typeof job === 'string'
      ? [job, options]
      : [job.type, { ...optionsOfDefaults(job.defaults), ...options, payloadVersion: job.version }];
  const check = new OptionCheck(`enqueue("${type}")`);
  refuseOwnVersion(check, options, job);
  check.done();
  if (typeof job !== 'string' && job.schema !== undefined) {
    await validatePayload({ type, schema: job.schema }, payload);
  }
  // What the worker answers to the call of this name; what the job will give is the caller's to say.
  return (await thread.call('enqueue', type, payload, said)) as EnqueueResult<never>;
}
