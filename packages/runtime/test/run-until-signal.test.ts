import { EventEmitter } from 'node:events';
import { createSilentLogger, runUntilSignal } from '@holdfast/runtime';
import { describe, expect, it } from 'vitest';
import { FakeClock } from './fake-clock.ts';
import type {
  ProcessDoor,
  ProcessMessage,
  RunOptions,
  Service,
  StopRequest,
} from '@holdfast/runtime';

class FakeProcess extends EventEmitter implements ProcessDoor {
  readonly exits: number[] = [];
  readonly messages: ProcessMessage[] = [];

  send(message: ProcessMessage): void {
    this.messages.push(message);
  }

  exit(code: number): void {
    this.exits.push(code);
  }
}

function stage(services: readonly Service[], options: Partial<RunOptions> = {}) {
  const door = new FakeProcess();
  const clock = new FakeClock();
  const ended = runUntilSignal(services, {
    drainTimeoutMs: 25_000,
    logger: createSilentLogger(),
    door,
    clock,
    ...options,
  });
  return { door, clock, ended };
}

function recorded(name: string, story: string[]): Service {
  return {
    name,
    start: () => {
      story.push(`start ${name}`);
    },
    stop: () => {
      story.push(`stop ${name}`);
      return Promise.resolve();
    },
  };
}

const stuck: Service = {
  name: 'stuck',
  start: () => undefined,
  stop: () => new Promise(() => undefined),
};

describe('a process', () => {
  it.each(['SIGTERM', 'SIGINT', 'disconnect'])(
    'stops its services in reverse order on %s and exits with 0',
    async (event) => {
      const story: string[] = [];
      const { door, ended } = stage([recorded('a', story), recorded('b', story)]);
      await new Promise((resolve) => setImmediate(resolve));
      door.emit(event);
      expect(await ended).toBe(0);
      expect(story).toEqual(['start a', 'start b', 'stop b', 'stop a']);
      expect(door.eventNames()).toEqual([]);
    },
  );

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])('exits at once on a second %s with %i', (signal, code) => {
    const { door } = stage([stuck]);
    door.emit(signal);
    expect(door.exits).toEqual([]);
    door.emit(signal);
    expect(door.exits).toEqual([code]);
  });

  it('takes a second signal right after the first for an echo of it, when told so', () => {
    const { door, clock } = stage([stuck], { forceAfterMs: 500 });
    door.emit('SIGINT');
    clock.advance(499);
    door.emit('SIGINT');
    expect(door.exits).toEqual([]);
    clock.advance(1);
    door.emit('SIGINT');
    expect(door.exits).toEqual([130]);
  });

  it('exits with 1 when stopping takes longer than the drain timeout', async () => {
    const { door, clock, ended } = stage([stuck]);
    await new Promise((resolve) => setImmediate(resolve));
    door.emit('SIGTERM');
    await clock.whenAsleep();
    clock.advance(25_000);
    expect(await ended).toBe(1);
  });

  it('waits less when the parent process has vanished, if told so', async () => {
    const { door, clock, ended } = stage([stuck], { parentGoneTimeoutMs: 5_000 });
    await new Promise((resolve) => setImmediate(resolve));
    door.emit('disconnect');
    expect(await clock.whenAsleep()).toBe(5_000);
    clock.advance(5_000);
    expect(await ended).toBe(1);
  });

  it('stops the other services although one fails to stop', async () => {
    const story: string[] = [];
    const failing: Service = { ...stuck, stop: () => Promise.reject(new Error('no')) };
    const { door, ended } = stage([recorded('a', story), failing]);
    await new Promise((resolve) => setImmediate(resolve));
    door.emit('SIGTERM');
    expect(await ended).toBe(1);
    expect(story).toEqual(['start a', 'stop a']);
  });

  it('stops what it started when a later service cannot start', async () => {
    const story: string[] = [];
    const failing: Service = { ...stuck, start: () => Promise.reject(new Error('port taken')) };
    const { ended } = stage([recorded('a', story), failing]);
    await expect(ended).rejects.toThrow('port taken');
    expect(story).toEqual(['start a', 'stop a']);
  });

  it('tells its parent once every service has started', async () => {
    let finish = (): void => undefined;
    const slow: Service = {
      ...stuck,
      start: () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
      stop: () => Promise.resolve(),
    };
    const { door, ended } = stage([slow]);
    expect(door.messages).toEqual([]);
    finish();
    await new Promise((resolve) => setImmediate(resolve));
    expect(door.messages).toEqual([{ event: 'started' }]);
    door.emit('SIGTERM');
    await ended;
  });

  it('can be ended by a service with an exit code of its own', async () => {
    let stop: (request: StopRequest) => void = () => undefined;
    const heard: string[] = [];
    const { ended } = stage([], {
      onStopper: (given) => {
        stop = given;
      },
      onSignal: (request) => heard.push(request.reason),
    });
    stop({ reason: 'slots_stuck', exitCode: 3 });
    expect(await ended).toBe(3);
    expect(heard).toEqual(['slots_stuck']);
  });
});
