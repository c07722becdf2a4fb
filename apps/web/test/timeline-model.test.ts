import type { Execution, JobDetail } from '@holdfast/contract';
import { describe, expect, it } from 'vitest';
import {
  lookOf,
  timelineLanes,
  timelineScale,
} from '../src/features/job/timeline/timeline-model.ts';

const startMs = Date.UTC(2026, 0, 1);

function at(ms: number): string {
  return new Date(startMs + ms).toISOString();
}

function execution(seq: number, fields: Partial<Execution>): Execution {
  return {
    seq,
    attempt: seq,
    generation: 0,
    status: 'running',
    workerId: null,
    claimedAt: at(0),
    startedAt: null,
    finishedAt: null,
    leaseLostAt: null,
    durationMs: null,
    error: null,
    nextDelayMs: null,
    reason: null,
    ...fields,
  };
}

function job(fields: Partial<JobDetail>): JobDetail {
  // The timeline reads no other field.
  return {
    createdAt: at(0),
    runAt: null,
    finishedAt: null,
    executions: [],
    ...fields,
  } as JobDetail;
}

function bars(of: JobDetail, nowMs: number) {
  return timelineLanes(of, startMs + nowMs).map((lane) =>
    lane.bars.map((bar) => [bar.label, bar.fromMs - startMs, bar.toMs - startMs]),
  );
}

describe('the timeline of a job', () => {
  it('shows waiting, claim and run of a job that completed', () => {
    const done = execution(1, {
      status: 'completed',
      claimedAt: at(100),
      startedAt: at(110),
      finishedAt: at(500),
    });
    expect(bars(job({ status: 'completed', executions: [done] }), 900)).toEqual([
      [['Queued', 0, 100]],
      [
        ['Claimed', 100, 110],
        ['Completed', 110, 500],
      ],
    ]);
  });

  it('tells the backoff between two attempts from the wait in line after it', () => {
    const failed = execution(1, {
      status: 'failed',
      claimedAt: at(0),
      startedAt: at(0),
      finishedAt: at(100),
      nextDelayMs: 400,
    });
    const second = execution(2, { claimedAt: at(600), startedAt: at(600) });
    const [waiting] = bars(job({ status: 'running', executions: [failed, second] }), 1_000);
    expect(waiting).toEqual([
      ['Scheduled', 100, 500],
      ['Queued', 500, 600],
    ]);
  });

  it('ends an interrupted execution where its lease was lost', () => {
    const lost = execution(1, { claimedAt: at(0), startedAt: at(10), leaseLostAt: at(300) });
    expect(lookOf(lost)).toBe('interrupted');
    const [, lane] = timelineLanes(job({ status: 'queued', executions: [lost] }), startMs + 400);
    expect(lane?.bars.at(-1)).toMatchObject({ hatched: true, toMs: startMs + 300 });
  });

  it('shows the time to come of a job that waits for it', () => {
    const [waiting] = bars(job({ status: 'scheduled', runAt: at(5_000) }), 1_000);
    expect(waiting).toEqual([
      ['Scheduled', 0, 1_000],
      ['Due', 1_000, 5_000],
    ]);
  });

  it('draws the end of a run that took less than a millisecond', () => {
    const quick = execution(1, {
      status: 'failed',
      claimedAt: at(0),
      startedAt: at(5),
      finishedAt: at(5),
    });
    const [, lane] = bars(job({ status: 'dead_letter', executions: [quick] }), 50);
    expect(lane).toContainEqual(['Failed', 5, 6]);
  });

  it('keeps the order of time and a visible width for short bars beside long ones', () => {
    const quick = execution(1, {
      status: 'completed',
      claimedAt: at(3_600_000),
      startedAt: at(3_600_005),
      finishedAt: at(3_600_025),
    });
    const lanes = timelineLanes(job({ status: 'completed', executions: [quick] }), startMs);
    const scale = timelineScale(lanes);
    const positions = [0, 3_600_000, 3_600_005, 3_600_025].map((ms) => scale(startMs + ms));
    expect(positions).toEqual([...positions].sort((one, other) => one - other));
    expect(positions[3]).toBe(1);
    expect((positions[3] ?? 0) - (positions[2] ?? 0)).toBeGreaterThan(0.05);
  });
});
