/**
 * A job's progress in words. Handlers usually report `{ percent, note }`; anything else is shown as JSON.
 */
export function describeProgress(progress: unknown): string | undefined {
  if (progress === null || progress === undefined) return undefined;
  if (typeof progress !== 'object') return JSON.stringify(progress);
  const percent = 'percent' in progress ? progress.percent : undefined;
  const note = 'note' in progress ? progress.note : undefined;
  if (typeof percent !== 'number') return JSON.stringify(progress);
  const share = `${String(Math.round(percent))} %`;
  return typeof note === 'string' ? `${share}, ${note}` : share;
}
