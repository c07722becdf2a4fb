const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Writes a duration in milliseconds for people, with two significant parts: `820 ms`, `3.2 s`, `2 min 5 s`, `1 d 4 h`. */
export function formatDurationMs(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 0) return formatDurationMs(0);
  if (ms < 1) return ms === 0 ? '0 ms' : `${ms.toFixed(1)} ms`;
  if (ms < secondMs) return `${String(Math.round(ms))} ms`;
  if (ms < 10 * secondMs) return `${(ms / secondMs).toFixed(1)} s`;
  if (ms < minuteMs) return `${String(Math.round(ms / secondMs))} s`;
  if (ms < hourMs)
    return twoParts(ms, { largeMs: minuteMs, large: 'min', smallMs: secondMs, small: 's' });
  if (ms < dayMs)
    return twoParts(ms, { largeMs: hourMs, large: 'h', smallMs: minuteMs, small: 'min' });
  return twoParts(ms, { largeMs: dayMs, large: 'd', smallMs: hourMs, small: 'h' });
}

interface TwoUnits {
  readonly largeMs: number;
  readonly large: string;
  readonly smallMs: number;
  readonly small: string;
}

function twoParts(ms: number, units: TwoUnits): string {
  const whole = Math.floor(ms / units.largeMs);
  const amount = Math.floor((ms % units.largeMs) / units.smallMs);
  const rest = amount === 0 ? '' : ` ${String(amount)} ${units.small}`;
  return `${String(whole)} ${units.large}${rest}`;
}

/** One part only, for narrow places: `3 s`, `12 min`, `5 h`, `9 d`. */
export function formatDurationShort(ms: number): string {
  const positive = Math.max(0, ms);
  if (positive < secondMs) return `${String(Math.round(positive))} ms`;
  if (positive < minuteMs) return `${String(Math.floor(positive / secondMs))} s`;
  if (positive < hourMs) return `${String(Math.floor(positive / minuteMs))} min`;
  if (positive < dayMs) return `${String(Math.floor(positive / hourMs))} h`;
  return `${String(Math.floor(positive / dayMs))} d`;
}

/** One part with at most one decimal, for axes, whose labels must stay narrow: `50 s`, `1.7 min`, `12 h`. */
export function formatDurationAxis(ms: number): string {
  if (ms < secondMs) return `${String(Math.round(ms))} ms`;
  if (ms < minuteMs) return `${oneDecimal(ms / secondMs)} s`;
  if (ms < hourMs) return `${oneDecimal(ms / minuteMs)} min`;
  if (ms < dayMs) return `${oneDecimal(ms / hourMs)} h`;
  return `${oneDecimal(ms / dayMs)} d`;
}

function oneDecimal(amount: number): string {
  return String(Math.round(amount * 10) / 10);
}
