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

it.runIf(isLinux)('gives back the memory of fifty threads that were ended by force', async () => {
  const handlers = { holds_memory: entry };
  await shop.start({ handlers, concurrency: 2, threadGraceMs: 1 });
  const runMany = async (count: number): Promise<void> => {
    const payloadJson = JSON.stringify({ megabytes: 60 });
    const job = { payloadJson, timeoutMs: 250, maxAttempts: 1 };
    const ids = await Promise.all(
      Array.from({ length: count }, () => shop.enqueue('holds_memory', job)),
    );
    for (const id of ids) {
      const ended = await waitFor(
        'the job has timed out',
        async () => {
          const found = await shop.job(id);
          return found?.status === 'dead_letter' && found;
        },
        { timeoutMs: 60_000 },
      );
      expect(ended.lastError?.code).toBe('timed_out');
    }
  };
  await runMany(4);
  const before = { rss: process.memoryUsage.rss(), threads: countThreads() };
  await runMany(50);
  // Fifty times what each held would be 3 GB.
  await waitFor('the memory is back', () => {
    return process.memoryUsage.rss() < before.rss + 200 * megabyte;
  });
  expect(countThreads()).toBeLessThanOrEqual(before.threads + 1);
});

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
