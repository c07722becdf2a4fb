import { formatDuration } from '@holdfast/domain';

/** An instant as answered. */
export function presentInstant(at: Date): string {
  return at.toISOString();
}

/** An instant that may be missing, as answered. */
export function presentMaybe(at: Date | null | undefined): string | null {
  return at === null || at === undefined ? null : at.toISOString();
}

/** The end of a job's attempts, an instant or milliseconds from its creation on, as answered. */
export function presentRetryEnd(end: Date | number): string {
  return typeof end === 'number' ? formatDuration(end) : presentInstant(end);
}
