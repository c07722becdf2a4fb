import cronstrue from 'cronstrue';

/** A cron expression of five fields in words, or undefined when it cannot be read. */
export function describeCron(cron: string): string | undefined {
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false });
  } catch {
    return undefined;
  }
}

/** When a schedule fires, in words: by its cron expression, or at its interval. */
export function describeRhythm(rhythm: {
  readonly cron: string | null;
  readonly every: string | null;
}): string {
  if (rhythm.cron !== null) return describeCron(rhythm.cron) ?? rhythm.cron;
  return `Every ${rhythm.every ?? '?'}`;
}
