import { HoldfastError, OptionsInvalidError } from '@holdfast/domain';
import { OptionCheck } from './check-options.ts';
import type { EnqueueManyResult } from './enqueue-result.ts';
import type { JobDefinition } from './job-definition.ts';
import { checkDraft } from './job-draft.ts';
import type { CheckedDraft } from './job-draft.ts';
import { jobOptionNames } from './job-fields.ts';
import type { EnqueueManyOptions, JobOptions } from './job-options.ts';
import type { JobWriter } from './job-writer.ts';
import { shown } from './shown.ts';

/** An enqueue of many jobs ended in the middle: `cause` says why, and the first ones are there. */
export class EnqueueIncompleteError extends HoldfastError {
  /** The ids of the jobs that are there, in the order of their payloads. */
  readonly ids: readonly string[];

  constructor(ids: readonly string[], cause: unknown) {
    const message = cause instanceof Error ? cause.message : String(cause);
    super(`After ${String(ids.length)} jobs: ${message}`, { cause, code: 'enqueue_incomplete' });
    this.ids = ids;
  }
}

/** What is enqueued. */
export interface EnqueueManyRequest {
  readonly job: JobDefinition | string;
  readonly payloads: Iterable<unknown> | AsyncIterable<unknown>;
  readonly options: EnqueueManyOptions<unknown, unknown>;
}

/** What an enqueue of many writes through. */
export type ManyWriter = Pick<JobWriter, 'limitBytes' | 'write'>;

const defaultSliceSize = 1_000;
const optionNames = [...jobOptionNames, 'each', 'sliceSize', 'tx'];

/**
 * Enqueues a job for each payload, slice by slice: while one slice is written the next one is taken in, and no more, so
 * that memory does not grow with the number of jobs. With a transaction all is written or nothing.
 *
 * @throws EnqueueIncompleteError when an error comes after a slice was written
 */
export async function enqueueMany(
  writer: ManyWriter,
  { job, payloads, options }: EnqueueManyRequest,
): Promise<EnqueueManyResult> {
  checkOwnOptions(options);
  requireIterable(payloads);
  const { each, sliceSize = defaultSliceSize, tx, ...shared } = options;
  const ids: string[] = [];
  let writing = Promise.resolve();
  const write = (slice: readonly CheckedDraft[]): void => {
    writing = writer.write(slice, { call: 'enqueueMany', tx }).then((results) => {
      for (const { id } of results) ids.push(id);
    });
    // It is awaited below, but maybe not before it has failed.
    writing.catch(() => undefined);
  };
  try {
    let slice: CheckedDraft[] = [];
    let index = 0;
    for await (const payload of payloads) {
      const own = ownOptions(each?.(payload, index));
      slice.push(
        await checkDraft({
          ...{ call: 'enqueueMany', job, payload, limitBytes: writer.limitBytes },
          options: merge(shared, own),
        }),
      );
      index += 1;
      if (slice.length < sliceSize) continue;
      await writing;
      write(slice);
      slice = [];
    }
    await writing;
    write(slice);
    await writing;
    return { ids };
  } catch (error) {
    await writing.catch(() => undefined);
    // A transaction will take the first ones back.
    if (ids.length === 0 || tx !== undefined) throw error;
    throw new EnqueueIncompleteError(ids, error);
  }
}

function checkOwnOptions(options: EnqueueManyOptions<unknown, unknown>) {
  const check = new OptionCheck('enqueueMany');
  if (!check.names(options, optionNames)) check.done();
  const { each, sliceSize } = options;
  if ('id' in options) check.refuse('id cannot be the same for every job; give it by each');
  if (each !== undefined && typeof each !== 'function') check.refuse('each must be a function');
  check.whole('sliceSize', sliceSize, { min: 1, max: 10_000 });
  check.done();
}

/** Callers in plain JavaScript may give one payload, or none. */
function requireIterable(payloads: unknown): void {
  const isObject = typeof payloads === 'object' && payloads !== null;
  if (isObject && (Symbol.iterator in payloads || Symbol.asyncIterator in payloads)) return;
  throw new OptionsInvalidError('enqueueMany', [
    `the payloads must be an array, an iterator or a stream, not ${shown(payloads)}`,
  ]);
}

/** Callers in plain JavaScript give the promise of an async function, whose options would be lost without a word. */
function ownOptions(own: JobOptions | undefined): JobOptions {
  if (own === undefined) return {};
  const check = new OptionCheck('enqueueMany, each');
  if (own instanceof Promise) check.refuse('it cannot be an async function');
  check.names(own, jobOptionNames);
  check.done();
  return own;
}

/** What one job says wins; a delay of its own also over an instant for all, and the other way round. */
function merge(shared: JobOptions, own: JobOptions): JobOptions {
  const { delay, runAt, ...rest } = shared;
  const hasOwnTime = own.delay !== undefined || own.runAt !== undefined;
  return hasOwnTime ? { ...rest, ...own } : { ...shared, ...own };
}
