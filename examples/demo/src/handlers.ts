import { setTimeout as sleep } from 'node:timers/promises';
import { NonRetryableError } from '@holdfast/domain';
import type { JobHandler } from '@holdfast/worker';

const pageMs = 600;

/** Greets, and is done: the smallest handler there is. What it returns is kept as the job's result. */
const greet: JobHandler = (payload) => ({ greeting: `Hello, ${textOf(payload, 'name')}!` });

/** Fails as often as the payload says and then works, as a service does that is being restarted. */
const flaky: JobHandler = (payload, { attempt }) => {
  const failureCount = numberOf(payload, 'failures');
  if (attempt <= failureCount) {
    throw new Error(
      `attempt ${String(attempt)} fails, number ${String(failureCount + 1)} will not`,
    );
  }
  return { attempts: attempt };
};

/** Fails for good: no retry can help, so the job becomes a dead letter at once and waits for a person. */
const broken: JobHandler = (payload) => {
  throw new NonRetryableError(`invoice ${textOf(payload, 'invoice')} has no recipient`);
};

/** Takes its time and says how far it is; stops early when it is asked to. */
const report: JobHandler = async (payload, context) => {
  const pageCount = numberOf(payload, 'pages');
  for (let page = 1; page <= pageCount; page += 1) {
    await sleep(pageMs, undefined, { signal: context.signal });
    context.log.info('page rendered', { page });
    context.progress((100 * page) / pageCount, `page ${String(page)} of ${String(pageCount)}`);
  }
  return { pages: pageCount };
};

/** The handlers of the demo by job type: what `HOLDFAST_HANDLERS` asks of a module. */
export const handlers: Readonly<Record<string, JobHandler>> = {
  'demo.greet': greet,
  'demo.flaky': flaky,
  'demo.broken': broken,
  'demo.report': report,
};

function fieldOf(payload: unknown, name: string): unknown {
  if (typeof payload !== 'object' || payload === null) return undefined;
  return Object.entries(payload).find(([key]) => key === name)?.[1];
}

function textOf(payload: unknown, name: string): string {
  const value = fieldOf(payload, name);
  if (typeof value === 'string') return value;
  throw new NonRetryableError(`the payload needs a text "${name}"`);
}

function numberOf(payload: unknown, name: string): number {
  const value = fieldOf(payload, name);
  if (typeof value === 'number') return value;
  throw new NonRetryableError(`the payload needs a number "${name}"`);
}
