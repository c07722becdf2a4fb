/** The longest duration that is accepted anywhere: ten years, in milliseconds. */
export const maxDurationMs = 10 * 365 * 86_400_000;

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const shortForm = /^(\d{1,12}(?:\.\d{1,3})?)(ms|s|m|h|d)$/;
const isoForm =
  /^P(?=\d|T\d)(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,8})H)?(?:(\d{1,9})M)?(?:(\d{1,10}(?:\.\d{1,3})?)S)?)?$/;

/**
 * Reads a duration as a person writes it: `"250ms"`, `"30s"`, `"5m"`, `"1.5h"`, `"7d"`, or ISO 8601 without years and
 * months (`"PT5M"`, `"P1DT2H"`).
 *
 * @returns whole milliseconds, or `undefined` when the text is no duration or is longer than {@link maxDurationMs}.
 */
export function parseDurationMs(text: string): number | undefined {
  const ms = parseShortForm(text) ?? parseIsoForm(text);
  return ms === undefined || ms > maxDurationMs ? undefined : Math.round(ms);
}

function parseShortForm(text: string): number | undefined {
  const [, amount, unit] = shortForm.exec(text) ?? [];
  const factor = unit === undefined ? undefined : unitMs[unit];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}

function parseIsoForm(text: string): number | undefined {
  const match = isoForm.exec(text);
  if (match === null) return undefined;
  // A part that is absent is undefined, whatever the declared type says.
  const parts: readonly (string | undefined)[] = match.slice(1);
  const [weeks, days, hours, minutes, seconds] = parts.map((part) => Number(part ?? 0));
  return (
    (weeks ?? 0) * 604_800_000 +
    (days ?? 0) * 86_400_000 +
    (hours ?? 0) * 3_600_000 +
    (minutes ?? 0) * 60_000 +
    (seconds ?? 0) * 1_000
  );
}

/** Writes milliseconds in the short form, with the largest unit that divides them: `300000` → `"5m"`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const factor = unitMs[unit] ?? 1;
    if (ms >= factor && ms % factor === 0) return `${String(ms / factor)}${unit}`;
  }
  return `${String(ms)}ms`;
}
