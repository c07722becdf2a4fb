import { untilAvailable } from '@holdfast/runtime';
import { describe, expect, it } from 'vitest';
import { FakeClock } from './fake-clock.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const isTransient = (error: unknown): boolean => error === refused;

function startWaiting(more: { readonly signal?: AbortSignal } = {}) {
  const clock = new FakeClock();
  const lines: unknown[] = [];
  const logger = { warn: (fields: unknown) => void lines.push(fields) };
  const end = { isReached: false };
  const waiting = untilAvailable(() => Promise.reject(refused), {
    ...{ isTransient, logger, clock },
    ...more,
  }).finally(() => {
    end.isReached = true;
  });
  waiting.catch(() => undefined);
  return { clock, lines, end, waiting };
}

describe('waiting for the database', () => {
  it('ends with a code after about a minute, and tells of each try before', async () => {
    const { clock, lines, end, waiting } = startWaiting();
    const startedMs = clock.nowMs();
    for (;;) {
      const asleep = await Promise.race([clock.whenAsleep(), waiting.catch(() => undefined)]);
      if (end.isReached || asleep === undefined) break;
      clock.advance(asleep);
    }
    await expect(waiting).rejects.toMatchObject({ code: 'database_unavailable', cause: refused });
    const tookMs = clock.nowMs() - startedMs;
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
    expect(tookMs).toBeLessThanOrEqual(65_000);
    expect(lines[0]).toMatchObject({ reason: 'connect ECONNREFUSED', attempt: 1 });
    expect(lines.length).toBeGreaterThan(12);
  });

  it('ends with its signal', async () => {
    const giveUp = new AbortController();
    const { clock, waiting } = startWaiting({ signal: giveUp.signal });
    await clock.whenAsleep();
    giveUp.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'database_unavailable' });
  });

  it('ends at once with an error that stays', async () => {
    const lasting = new Error('password authentication failed');
    const waiting = untilAvailable(() => Promise.reject(lasting), {
      isTransient,
      logger: { warn: () => expect.unreachable() },
      clock: new FakeClock(),
    });
    await expect(waiting).rejects.toBe(lasting);
  });
});
