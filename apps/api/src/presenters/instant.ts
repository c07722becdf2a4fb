import { formatDuration } from '@holdfast/domain';

/** An instant as answered. */
export function presentInstant(at: Date): string {
  return at.toISOString();
}

/** An instant that may be missing, as answered. */
export function presentMaybe(at: Date | null | undefined): string | null {
  return at === null || at === undefined ? null : at.toISOString();
}

/** An end that is an instant, or milliseconds from a job's creation on, as answered. */
export function presentEnd(end: Date | number): string {
  return typeof end === 'number' ? formatDuration(end) : presentInstant(end);
}
