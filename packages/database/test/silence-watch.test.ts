import { PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SilenceWatch } from '../src/silence-watch.ts';
import type { WatchedClient } from '../src/silence-watch.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A connection to somebody who says only what the test says. */
function connect() {
  const stream = new PassThrough();
  const errors: unknown[] = [];
  stream.on('error', (error) => errors.push(error));
  // All of a client that the watch looks at.
  const client = { connection: { stream } } as unknown as WatchedClient;
  return { errors, watch: new SilenceWatch(client) };
}

function ask(watch: SilenceWatch): () => Promise<void> {
  let answer = (): void => undefined;
  const answered = watch.during(new Promise<void>((resolve) => (answer = resolve)));
  return () => {
    answer();
    return answered;
  };
}

it('ends a connection on which nothing is heard', async () => {
  const { errors, watch } = connect();
  ask(watch);
  vi.advanceTimersByTime(11_999);
  await nextTurn();
  expect(errors).toEqual([]);
  vi.advanceTimersByTime(1);
  await nextTurn();
  await nextTurn();
  expect(errors).toMatchObject([{ code: 'ETIMEDOUT' }]);
});

it('hears what came while the event loop was blocked', async () => {
  const { errors, watch } = connect();
  const answer = ask(watch);
  vi.advanceTimersByTime(60_000);
  await answer();
  await nextTurn();
  await nextTurn();
  expect(errors).toEqual([]);
});

it('waits on while others are answered, and not at all while nobody asks', async () => {
  const { errors, watch } = connect();
  const answers = Array.from({ length: 3 }, () => ask(watch));
  for (const answer of answers) {
    vi.advanceTimersByTime(10_000);
    await answer();
    await nextTurn();
  }
  vi.advanceTimersByTime(60_000);
  await nextTurn();
  await nextTurn();
  expect(errors).toEqual([]);
});
