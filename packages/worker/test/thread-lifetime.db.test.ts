import { readdirSync } from 'node:fs';
import { waitFor } from '@holdfast/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openWorkshop } from './support/workshop.ts';
import type { ThreadHandler } from '../src/thread/thread-handler.ts';
import type { Workshop } from './support/workshop.ts';

const module = new URL('./support/thread-handlers.mjs', import.meta.url);
const entry: ThreadHandler = { isolate: 'thread', module, execArgv: [] };
const megabyte = 1_048_576;

let shop: Workshop;

beforeEach(async () => {
  shop = await openWorkshop();
});
afterEach(async () => {
  await shop.close();
});

/** Threads of this process, Node's own among them. */
function countThreads(): number {
  return readdirSync('/proc/self/task').length;
}

const isLinux = process.platform === 'linux';

/** How threads end otherwise than by themselves, and what is said of their jobs then. */
const ends = [
  [
    'fifty threads that were ended by force',
    {
      ...{ count: 50, type: 'holds_memory', handler: entry, code: 'timed_out' },
      job: { payloadJson: JSON.stringify({ megabytes: 60 }), timeoutMs: 250, maxAttempts: 1 },
    },
  ],
  [
    'twelve threads that reached their memory limit',
    {
      ...{ count: 12, type: 'eats_memory', code: 'thread_out_of_memory' },
      handler: { ...entry, resourceLimits: { maxOldGenerationSizeMb: 60 } },
      job: { maxAttempts: 1 },
    },
  ],
] as const;

it.runIf(isLinux).each(ends)(
  'gives back the memory of %s',
  async (_, { count: allCount, handler, type, job, code }) => {
    await shop.start({ handlers: { [type]: handler }, concurrency: 2, threadGraceMs: 1 });
    const runMany = async (count: number): Promise<void> => {
      const ids = await Promise.all(Array.from({ length: count }, () => shop.enqueue(type, job)));
      for (const id of ids) {
        const ended = await waitFor(
          'the job is dead',
          async () => {
            const found = await shop.job(id);
            return found?.status === 'dead_letter' && found;
          },
          { timeoutMs: 60_000 },
        );
        expect(ended.lastError?.code).toBe(code);
      }
    };
    await runMany(4);
    const before = { rss: process.memoryUsage.rss(), threads: countThreads() };
    await runMany(allCount);
    // Each held about 60 MB.
    await waitFor('the memory is back', () => {
      return process.memoryUsage.rss() < before.rss + 200 * megabyte;
    });
    await waitFor('the threads are gone', () => countThreads() <= before.threads + 1);
  },
);

it.runIf(isLinux)(
  'uses its threads again, at most as many as handlers run at once, and ends them when it stops',
  async () => {
    const before = countThreads();
    const engine = await shop.start({ handlers: { plain: entry }, concurrency: 3 });
    const started = countThreads();
    const ids = await Promise.all(Array.from({ length: 60 }, () => shop.enqueue('plain')));
    const threads = new Set<number>();
    for (const id of ids) {
      const { result } = await shop.untilEnded(id);
      threads.add((result as { readonly threadId: number }).threadId);
    }
    expect(threads.size).toBeLessThanOrEqual(3);
    expect(countThreads()).toBeGreaterThan(started);
    await engine.stop();
    await waitFor('the threads are gone', () => countThreads() <= before + 1);
  },
);

it('ends threads by force when a drain runs out', async () => {
  const engine = await shop.start({ handlers: { spin: entry }, drainTimeoutMs: 50 });
  const id = await shop.enqueue('spin');
  await waitFor('the handler runs', async () => (await shop.job(id))?.status === 'running');
  await engine.stop();
  expect(await shop.job(id)).toMatchObject({ status: 'queued', attempt: 0 });
});

it('says of a thread that its timeout came first, also when it then reaches its memory limit', async () => {
  const type = 'eats_memory_when_aborted';
  const handler = { ...entry, resourceLimits: { maxOldGenerationSizeMb: 32 } };
  await shop.start({ handlers: { [type]: handler }, threadGraceMs: 60_000 });
  const id = await shop.enqueue(type, { timeoutMs: 250, maxAttempts: 1 });
  const { lastError } = await waitFor('the job is dead', async () => {
    const found = await shop.job(id);
    return found?.status === 'dead_letter' && found;
  });
  expect(lastError).toMatchObject({ code: 'timed_out', message: 'Ran longer than 250 ms' });
});
