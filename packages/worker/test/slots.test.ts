import { beforeEach, describe, expect, it } from 'vitest';
import { Slots } from '../src/slots.ts';
import { makeHeldJob } from './support/make-held-job.ts';

let slots: Slots;

beforeEach(() => {
  slots = new Slots(2);
});

describe('Slots', () => {
  it('runs as many jobs as there are slots, in the order they came', () => {
    const jobs = ['a', 'b', 'c'].map((id) => makeHeldJob({ id }));
    for (const job of jobs) slots.add(job);
    expect([slots.takeNext(), slots.takeNext(), slots.takeNext()]).toEqual([
      jobs[0],
      jobs[1],
      undefined,
    ]);
    expect(slots).toMatchObject({ free: 0, busy: 2, buffered: 1 });
  });

  it('runs one suspect at a time, beside the ordinary slots', () => {
    const suspects = ['s', 't'].map((id) => makeHeldJob({ id, crashCount: 1 }));
    for (const job of [...suspects, makeHeldJob({ id: 'a' }), makeHeldJob({ id: 'b' })]) {
      slots.add(job);
    }
    const taken = [slots.takeNext(), slots.takeNext(), slots.takeNext(), slots.takeNext()];
    expect(taken.map((job) => job?.claimed.id)).toEqual(['s', 'a', 'b', undefined]);
    expect(slots.quarantineFree).toBe(false);
  });

  it('starts the next suspect when the first has ended', () => {
    const [first, second] = ['s', 't'].map((id) => makeHeldJob({ id, crashCount: 1 }));
    if (first === undefined || second === undefined) throw new Error('two jobs were made');
    slots.add(first);
    slots.add(second);
    slots.takeNext();
    slots.end(first, 'ended');
    expect(slots.takeNext()).toBe(second);
  });

  it('keeps the slot of a handler that ignores its abort until the handler ends', () => {
    const job = makeHeldJob();
    slots.add(job);
    slots.takeNext();
    slots.end(job, 'stuck');
    expect(slots).toMatchObject({ stuck: 1, busy: 1, free: 1 });
    slots.unstick();
    expect(slots).toMatchObject({ stuck: 0, busy: 0, free: 2 });
  });

  it('gives out everything that has not started, and nothing twice', () => {
    const jobs = ['a', 'b', 'c', 'd'].map((id) => makeHeldJob({ id }));
    for (const job of jobs) slots.add(job);
    slots.takeNext();
    slots.takeNext();
    expect(slots.takeBuffered()).toEqual(jobs.slice(2));
    expect(slots.takeBuffered()).toEqual([]);
  });

  it('takes one job out of the buffer, but none that runs', () => {
    const [running, waiting] = ['a', 'b'].map((id) => makeHeldJob({ id }));
    if (running === undefined || waiting === undefined) throw new Error('two jobs were made');
    slots = new Slots(1);
    slots.add(running);
    slots.add(waiting);
    slots.takeNext();
    expect(slots.remove(running)).toBe(false);
    expect(slots.remove(waiting)).toBe(true);
    expect(slots.buffered).toBe(0);
  });
});
