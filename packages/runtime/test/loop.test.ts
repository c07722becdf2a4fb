import { createLoop, createSilentLogger, systemClock } from '@holdfast/runtime';
import { createMetrics } from '@holdfast/runtime/create-metrics';
import { describe, expect, it } from 'vitest';
import { FakeClock } from './fake-clock.ts';
import type { LoopOptions, RoundResult } from '@holdfast/runtime';

function loopOn(clock: FakeClock, options: Partial<LoopOptions> & Pick<LoopOptions, 'run'>) {
  return createLoop({
    name: 'promoter',
    maxIntervalMs: 10_000,
    logger: createSilentLogger(),
    clock,
    random: () => 0.5,
    ...options,
  });
}

function roundsAnswering(...answers: (RoundResult | Error)[]) {
  const rounds = { count: 0 };
  const run = (): Promise<RoundResult> => {
    const answer = answers[Math.min(rounds.count, answers.length - 1)];
    rounds.count += 1;
    return answer instanceof Error || answer === undefined
      ? Promise.reject(answer ?? new Error('no answer'))
      : Promise.resolve(answer);
  };
  return { rounds, run };
}

describe('a loop', () => {
  it('sleeps exactly until the next round is due', async () => {
    const clock = new FakeClock();
    const { rounds, run } = roundsAnswering({ nextInMs: 1_234 });
    const loop = loopOn(clock, { run });
    loop.start();
    expect(await clock.whenAsleep()).toBe(1_234);
    clock.advance(1_233);
    expect(rounds.count).toBe(1);
    clock.advance(1);
    await clock.whenAsleep();
    expect(rounds.count).toBe(2);
    await loop.stop();
  });

  it.each([undefined, NaN, 99_999_999])(
    'never sleeps longer than its interval (%s)',
    async (nextInMs) => {
      const clock = new FakeClock();
      const loop = loopOn(clock, roundsAnswering({ nextInMs }));
      loop.start();
      expect(await clock.whenAsleep()).toBe(10_000);
      await loop.stop();
    },
  );

  it('runs again at once when it is woken from its sleep', async () => {
    const clock = new FakeClock();
    const { rounds, run } = roundsAnswering({ nextInMs: 5_000 });
    const loop = loopOn(clock, { run });
    loop.start();
    await clock.whenAsleep();
    loop.wake();
    await clock.whenAsleep();
    expect(rounds.count).toBe(2);
    await loop.stop();
  });

  it('runs once more when it is woken in the middle of a round', async () => {
    const clock = new FakeClock();
    const seen: number[] = [];
    const loop = loopOn(clock, {
      run: () => {
        seen.push(clock.nowMs());
        if (seen.length === 1) loop.wake();
        return Promise.resolve({ nextInMs: 5_000 });
      },
    });
    loop.start();
    await clock.whenAsleep();
    expect(seen).toHaveLength(2);
    await loop.stop();
  });

  it('goes on after failed rounds, waits longer each time, and is not hurried by wake-ups', async () => {
    const clock = new FakeClock();
    const { rounds, run } = roundsAnswering(new Error('no database'));
    const loop = loopOn(clock, { run, backoff: { baseMs: 100, capMs: 400 } });
    loop.start();
    const waits: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      waits.push(await clock.whenAsleep());
      loop.wake();
      expect(clock.sleeping).toHaveLength(1);
      clock.advance(10_000);
    }
    await clock.whenAsleep();
    expect(waits).toEqual([50, 100, 200, 200]);
    expect(rounds.count).toBe(5);
    expect(loop.health()).toMatchObject({ failureCount: 5, lastSuccessAtMs: undefined });
    await loop.stop();
  });

  it('survives a round that throws before it returns a promise', async () => {
    const clock = new FakeClock();
    const loop = loopOn(clock, {
      run: () => {
        throw new TypeError('thrown in the open');
      },
    });
    loop.start();
    await clock.whenAsleep();
    expect(loop.health().failureCount).toBe(1);
    await loop.stop();
  });

  it('waits for the round in hand when it is stopped', async () => {
    let release = (): void => undefined;
    let isRoundOver = false;
    const loop = loopOn(new FakeClock(), {
      run: async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        isRoundOver = true;
        return { nextInMs: 0 };
      },
    });
    loop.start();
    const stopped = loop.stop().then(() => isRoundOver);
    release();
    expect(await stopped).toBe(true);
  });

  it.each([
    ['three intervals', 20_000, 60_000],
    ['half a minute, however short its interval is', 200, 30_000],
  ])('counts as stuck when no round ends for %s', async (_name, maxIntervalMs, stuckAfterMs) => {
    const clock = new FakeClock();
    let release = (): void => undefined;
    const loop = loopOn(clock, {
      maxIntervalMs,
      run: async () => {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return { nextInMs: undefined };
      },
    });
    loop.start();
    clock.advance(stuckAfterMs);
    expect(loop.health().isStuck).toBe(false);
    clock.advance(1);
    expect(loop.health().isStuck).toBe(true);
    release();
    await loop.stop();
  });

  it('shows when it last succeeded', async () => {
    const clock = new FakeClock();
    const metrics = createMetrics();
    const loop = loopOn(clock, { ...roundsAnswering({ nextInMs: 1 }), metrics });
    loop.start();
    await clock.whenAsleep();
    expect(await metrics.render()).toContain(
      'holdfast_loop_last_success_timestamp_seconds{loop="promoter"} 1000',
    );
    await loop.stop();
  });

  it('leaves no timer behind when it is started and stopped 200 times', async () => {
    const timersBefore = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    for (let round = 0; round < 200; round += 1) {
      const loop = createLoop({
        name: 'reaper',
        maxIntervalMs: 10_000,
        logger: createSilentLogger(),
        clock: systemClock,
        run: () => Promise.resolve({ nextInMs: undefined }),
      });
      loop.start();
      if (round % 2 === 0) await new Promise((resolve) => setImmediate(resolve));
      await Promise.all([loop.stop(), loop.stop()]);
    }
    const timersAfter = process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    // The test runner has timers of its own, which come and go.
    expect(timersAfter.length - timersBefore.length).toBeLessThan(50);
  });
});
