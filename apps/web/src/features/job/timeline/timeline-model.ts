import type { Execution, JobDetail } from '@holdfast/contract';
import { isEnded } from '@holdfast/domain';
import { executionLook } from '../../../ui/status-look.ts';
import type { ExecutionLookName } from '../../../ui/status-look.ts';
import type { Tone } from '../../../ui/tone.ts';

/** A stretch of time in which one thing was so. */
export interface Bar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly tone: Tone;
  readonly label: string;
  /** Drawn hatched: cut off, or still to come. */
  readonly hatched: boolean;
}

/** One line of the picture. */
export interface Lane {
  readonly key: string;
  readonly execution: Execution | undefined;
  readonly look: ExecutionLookName | undefined;
  readonly bars: readonly Bar[];
}

/** How an execution stands, told apart from one whose worker vanished. */
export function lookOf(execution: Execution): ExecutionLookName {
  const vanished = execution.leaseLostAt !== null && execution.finishedAt === null;
  return execution.status === 'running' && vanished ? 'interrupted' : execution.status;
}

function ms(at: string): number {
  return Date.parse(at);
}

function endOf(execution: Execution, nowMs: number): number {
  const end = execution.finishedAt ?? execution.leaseLostAt;
  return end === null ? Math.max(nowMs, ms(execution.claimedAt)) : ms(end);
}

function executionLane(execution: Execution, nowMs: number): Lane {
  const look = lookOf(execution);
  const claimedMs = ms(execution.claimedAt);
  const endMs = endOf(execution, nowMs);
  const startedMs = execution.startedAt === null ? endMs : ms(execution.startedAt);
  // A run within the same millisecond is drawn too: how it ended is what a reader looks for.
  const drawnEndMs = execution.startedAt === null ? endMs : Math.max(endMs, startedMs + 1);
  const { tone, label } = executionLook[look];
  return {
    key: String(execution.seq),
    execution,
    look,
    bars: [
      { fromMs: claimedMs, toMs: startedMs, tone: 'held', label: 'Claimed', hatched: false },
      { fromMs: startedMs, toMs: drawnEndMs, tone, label, hatched: look === 'interrupted' },
    ],
  };
}

function waitBars(fromMs: number, dueMs: number, untilMs: number): Bar[] {
  const heldBackMs = Math.min(Math.max(dueMs, fromMs), untilMs);
  return [
    { fromMs, toMs: heldBackMs, tone: 'later', label: 'Scheduled', hatched: false },
    { fromMs: heldBackMs, toMs: untilMs, tone: 'wait', label: 'Queued', hatched: false },
  ];
}

function waitingLane(job: JobDetail, nowMs: number): Lane {
  const { executions } = job;
  const bars = executions.flatMap((execution, index) => {
    const before = executions[index - 1];
    const fromMs = before === undefined ? ms(job.createdAt) : endOf(before, nowMs);
    const dueMs = before === undefined ? fromMs : fromMs + (before.nextDelayMs ?? 0);
    return waitBars(fromMs, dueMs, ms(execution.claimedAt));
  });
  return {
    key: 'waiting',
    execution: undefined,
    look: undefined,
    bars: [...bars, ...lastWait(job, nowMs)],
  };
}

// From the end of the last execution on: until now, until the end without another run, or until a time to come.
function lastWait(job: JobDetail, nowMs: number): Bar[] {
  const last = job.executions.at(-1);
  const leased = job.status === 'claimed' || job.status === 'running';
  if (leased || (last !== undefined && isEnded(job.status))) return [];
  const fromMs = last === undefined ? ms(job.createdAt) : endOf(last, nowMs);
  const untilMs = Math.max(fromMs, job.finishedAt === null ? nowMs : ms(job.finishedAt));
  const dueMs = job.runAt === null ? fromMs : ms(job.runAt);
  const ahead: Bar = {
    fromMs: untilMs,
    toMs: dueMs,
    tone: 'later',
    label: 'Due',
    hatched: true,
  };
  return [...waitBars(fromMs, dueMs, untilMs), ...(job.status === 'scheduled' ? [ahead] : [])];
}

/** The job's life as lanes: first its waiting, then each execution. Bars without length are left out. */
export function timelineLanes(job: JobDetail, nowMs: number): Lane[] {
  const lanes = [
    waitingLane(job, nowMs),
    ...job.executions.map((execution) => executionLane(execution, nowMs)),
  ];
  return lanes.map((lane) => ({ ...lane, bars: lane.bars.filter((bar) => bar.toMs > bar.fromMs) }));
}

/** Below this length a stretch is drawn as if it had it. */
const shortestMs = 5;

/**
 * Makes a scale from 0 to 1 for the instants at which bars begin and end. A stretch is as wide as the logarithm of its
 * length, so that a run of 20 ms stays visible beside a wait of an hour.
 */
export function timelineScale(lanes: readonly Lane[]): (ms: number) => number {
  const edges = [
    ...new Set(lanes.flatMap(({ bars }) => bars.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))),
  ].sort((one, other) => one - other);
  const positions = new Map<number, number>();
  let width = 0;
  edges.forEach((edge, index) => {
    const before = edges[index - 1];
    width += before === undefined ? 0 : Math.log2(2 + (edge - before) / shortestMs);
    positions.set(edge, width);
  });
  const whole = Math.max(width, 1);
  return (at) => (positions.get(at) ?? 0) / whole;
}
