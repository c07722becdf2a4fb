import { HoldfastError } from '@holdfast/domain';
import type { EnqueueMiddleware, EnqueueResult } from './enqueue-result.ts';
import type { JobDraft } from './job-draft.ts';

/** What a middleware goes on with. */
export type NextMiddleware = (drafts: readonly JobDraft[]) => Promise<readonly EnqueueResult[]>;

/**
 * Takes the jobs of one call through the middleware to `store`, and makes sure that none gets lost on the way: nobody is
 * told of a job that was not written.
 *
 * @throws HoldfastError `middleware_invalid`
 */
export function throughMiddleware(
  middleware: readonly EnqueueMiddleware[],
  drafts: readonly JobDraft[],
  store: NextMiddleware,
): Promise<readonly EnqueueResult[]> {
  let storing: Promise<unknown> | undefined;
  const last: NextMiddleware = (left) => {
    const results = store(left);
    storing = results;
    return results;
  };
  const whatWasWritten = async (): Promise<string> => {
    // Nobody else may look at it any more.
    const isWritten = await storing?.then(
      () => true,
      () => false,
    );
    return isWritten === true ? 'the jobs were written all the same' : 'nothing was written';
  };
  const chain = middleware.reduceRight<NextMiddleware>(
    (next, layer) => async (given) => {
      const calls: Promise<unknown>[] = [];
      const results: unknown = await layer(given, (left) => {
        const call = goOn(next, left, given.length);
        calls.push(call);
        return call;
      });
      if (areResults(results, given.length)) return results;
      // It has not waited for them, and their failure is told here.
      await Promise.allSettled(calls);
      throw middlewareInvalid(
        `A middleware must give what \`next\` gives, a result for each of ${jobs(given.length)}; ${await whatWasWritten()}`,
      );
    },
    last,
  );
  return chain(drafts);
}

/** What a middleware did wrong. */
export function middlewareInvalid(message: string): HoldfastError {
  return new HoldfastError(message, { code: 'middleware_invalid' });
}

async function goOn(
  next: NextMiddleware,
  left: unknown,
  count: number,
): Promise<readonly EnqueueResult[]> {
  if (!Array.isArray(left) || left.length < count || !left.every(isDraft)) {
    throw middlewareInvalid(
      `A middleware must give \`next\` all of ${jobs(count)}, with their ids, and throw to refuse them; nothing was written`,
    );
  }
  return next(left as readonly JobDraft[]);
}

function jobs(count: number): string {
  return count === 1 ? 'the 1 job' : `the ${String(count)} jobs`;
}

function isDraft(value: unknown): boolean {
  if (!isObject(value) || typeof value['type'] !== 'string') return false;
  return isObject(value['options']) && typeof value['options']['id'] === 'string';
}

function areResults(value: unknown, count: number): value is readonly EnqueueResult[] {
  const isResult = (result: unknown) => isObject(result) && typeof result['id'] === 'string';
  return Array.isArray(value) && value.length === count && value.every(isResult);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
