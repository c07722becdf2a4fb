import { formatDurationShort } from './duration.ts';

const absoluteFormat = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});

const clockFormat = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
});

const minuteFormat = new Intl.DateTimeFormat('en-GB', {
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Below this age a time reads as "now": smaller differences are clock skew more often than news. */
const nowWithinMs = 1_500;

/** An instant (RFC 3339) in the viewer's zone with seconds: `30 Sept 2026, 14:03:22 GMT+2`. */
export function formatAbsolute(at: string): string {
  return absoluteFormat.format(new Date(at));
}

/** The time of day with milliseconds, for rows that belong to one job. */
export function formatClock(at: string): string {
  return clockFormat.format(new Date(at));
}

/** Day and minute, for axes and lists: `30 Sept, 14:03`. */
export function formatMinute(at: string): string {
  return minuteFormat.format(new Date(at));
}

/** An instant in a named IANA zone: `Wed 30 Sept, 09:00`. */
export function formatInZone(at: string, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: '2-digit',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  }).format(new Date(at));
}

/** How far an instant is from now: `12 s ago`, `in 4 min`, `now`. */
export function formatRelative(at: string, nowMs: number): string {
  const deltaMs = new Date(at).getTime() - nowMs;
  if (Math.abs(deltaMs) < nowWithinMs) return 'now';
  const size = formatDurationShort(Math.abs(deltaMs));
  return deltaMs < 0 ? `${size} ago` : `in ${size}`;
}

/** Milliseconds between two instants, or from the first until `nowMs` while there is no second. */
export function elapsedMs(from: string, to: string | number): number {
  const end = typeof to === 'number' ? to : new Date(to).getTime();
  return Math.max(0, end - new Date(from).getTime());
}

/** The viewer's own IANA zone. */
export function viewerTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
