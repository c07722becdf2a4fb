import { describe, expect, it } from 'vitest';
import { planFires } from '../src/fire-plan.ts';
import type { DueSchedule } from '@holdfast/database';

const minute = 60_000;

function due(overrides: Partial<DueSchedule> = {}): DueSchedule {
  return {
    projectId: '00000000-0000-7000-8000-000000000000',
    id: '00000000-0000-7000-8000-000000000001',
    name: 'nightly',
    timing: { cron: '* * * * *', timezone: 'UTC' },
    job: { type: 'report', queue: 'default', payload: null },
    catchUp: 'latest',
    catchUpWindowMs: 60 * minute,
    overlap: 'skip',
    nextFireAt: new Date('2026-05-01T10:00:00Z'),
    isPaused: false,
    now: new Date('2026-05-01T10:00:00.040Z'),
    ...overrides,
  };
}

function outcomes(schedule: DueSchedule): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of planFires(schedule).fires) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

describe('the plan for a due schedule', () => {
  it('enqueues an instant that is on time, and the next follows from the instant, not from now', () => {
    const plan = planFires(due({ now: new Date('2026-05-01T10:00:29Z') }));
    expect(plan).toEqual({
      fires: [{ fireAt: new Date('2026-05-01T10:00:00Z'), outcome: 'enqueued' }],
      nextFireAt: new Date('2026-05-01T10:01:00Z'),
    });
  });

  it.each([
    ['none', { missed: 10, enqueued: 1 }],
    ['latest', { missed: 10, enqueued: 1 }],
    ['all', { caught_up: 10, enqueued: 1 }],
  ] as const)('with catch-up %s, after ten minutes, on the minute', (catchUp, expected) => {
    expect(outcomes(due({ catchUp, now: new Date('2026-05-01T10:10:05Z') }))).toEqual(expected);
  });

  it.each([
    ['none', { missed: 11 }],
    ['latest', { missed: 10, caught_up: 1 }],
    ['all', { caught_up: 11 }],
  ] as const)('with catch-up %s, when even the latest instant is late', (catchUp, expected) => {
    const schedule = due({ catchUp, now: new Date('2026-05-01T10:10:45Z') });
    expect(outcomes(schedule)).toEqual(expected);
    expect(planFires(schedule).nextFireAt).toEqual(new Date('2026-05-01T10:11:00Z'));
  });

  it('skips every instant of a paused schedule, the late ones too', () => {
    const schedule = due({ isPaused: true, catchUp: 'all', now: new Date('2026-05-01T10:10:05Z') });
    expect(outcomes(schedule)).toEqual({ skipped_paused: 11 });
    expect(planFires(schedule).nextFireAt).toEqual(new Date('2026-05-01T10:11:00Z'));
  });

  it('makes up for nothing that is older than the window', () => {
    const timing = { cron: '0 4 * * *', timezone: 'UTC' };
    const nextFireAt = new Date('2026-05-01T04:00:00Z');
    const late = (now: string) => outcomes(due({ timing, nextFireAt, now: new Date(now) }));
    expect(late('2026-05-01T05:00:00Z')).toEqual({ caught_up: 1 });
    expect(late('2026-05-01T05:00:01Z')).toEqual({ missed: 1 });
  });

  it('makes up for at most a hundred instants', () => {
    const schedule = due({
      catchUp: 'all',
      catchUpWindowMs: 24 * 60 * minute,
      now: new Date('2026-05-01T13:19:45Z'),
    });
    expect(outcomes(schedule)).toEqual({ missed: 100, caught_up: 100 });
    expect(planFires(schedule).fires[99]?.outcome).toBe('missed');
    expect(planFires(schedule).fires[100]?.outcome).toBe('caught_up');
  });

  it('keeps every second of an interval that is handled late by seconds only', () => {
    const anchorAt = new Date('2026-05-01T00:00:00Z');
    const timing = { everyMs: 1_000, anchorAt, timezone: 'UTC' };
    expect(outcomes(due({ timing, now: new Date('2026-05-01T10:00:09.999Z') }))).toEqual({
      enqueued: 10,
    });
  });

  it('fires nothing for an instant that the rule no longer has, and goes on with the next', () => {
    const timing = { cron: '30 * * * *', timezone: 'UTC' };
    expect(planFires(due({ timing }))).toEqual({
      fires: [],
      nextFireAt: new Date('2026-05-01T10:30:00Z'),
    });
  });

  it('is quick and bounded after an outage of years', () => {
    const plan = planFires(
      due({ nextFireAt: new Date('2020-01-01T00:00:00Z'), timing: everySecond() }),
    );
    expect(plan.fires.length).toBeLessThanOrEqual(50_000);
    expect(plan.fires.at(-1)?.outcome).toBe('enqueued');
  });
});

function everySecond() {
  return { everyMs: 1_000, anchorAt: new Date('2020-01-01T00:00:00Z'), timezone: 'UTC' };
}
