/**
 * A time as a clock on the wall shows it, written as the milliseconds that a UTC clock showing the
 * same digits would have.
 */
export type WallMs = number;

const dayMs = 86_400_000;
const minuteMs = 60_000;
const formatters = new Map<string, Intl.DateTimeFormat>();
const shape = /^(\d{1,2})\/(\d{1,2})\/(\d{1,6}), (\d{2}):(\d{2}):(\d{2})$/;

/** What the wall clock of a zone shows at an instant (milliseconds since the epoch, whole seconds). */
export function wallAt(instantMs: number, timezone: string): WallMs {
  if (timezone === 'UTC') return instantMs;
  const match = shape.exec(formatterOf(timezone).format(instantMs));
  const [month = NaN, day = NaN, year = NaN, hour = NaN, minute = NaN, second = NaN] =
    match?.slice(1).map(Number) ?? [];
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The instants at which the wall clock shows `wall`: none in a gap, two in a repeated hour, else one; ascending. */
export function instantsOf(wall: WallMs, timezone: string): readonly number[] {
  const candidates = offsetsAround(wall, timezone)
    .map((offsetMs) => wall - offsetMs)
    .filter((instantMs) => wallAt(instantMs, timezone) === wall);
  return [...new Set(candidates)].sort((a, b) => a - b);
}

/** The first instant at which the wall clock shows `wall`, or, in a gap, the first one after the gap. */
export function firstInstantOf(wall: WallMs, timezone: string): number {
  const [first] = instantsOf(wall, timezone);
  return first ?? transitionBetween(wall - dayMs, wall + dayMs, timezone) ?? wall;
}

/** The first whole minute in (from, to] at which the zone's offset is no longer that of `from`, if there is one. */
export function transitionBetween(
  fromMs: number,
  toMs: number,
  timezone: string,
): number | undefined {
  const before = offsetAt(fromMs, timezone);
  if (offsetAt(toMs, timezone) === before) return undefined;
  let low = Math.floor(fromMs / minuteMs);
  let high = Math.ceil(toMs / minuteMs);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * minuteMs, timezone) === before) low = middle;
    else high = middle;
  }
  return high * minuteMs;
}

/** How far the wall clock is ahead of UTC at an instant, in milliseconds. */
export function offsetAt(instantMs: number, timezone: string): number {
  const wholeSecondMs = Math.floor(instantMs / 1_000) * 1_000;
  return wallAt(wholeSecondMs, timezone) - wholeSecondMs;
}

/** Offsets reach from −12 h to +14 h, so a day to either side sees both offsets of any change near by. */
function offsetsAround(wall: WallMs, timezone: string): readonly number[] {
  const before = offsetAt(wall - dayMs, timezone);
  const after = offsetAt(wall + dayMs, timezone);
  return before === after ? [before] : [before, after];
}

function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formatters.set(timezone, formatter);
  return formatter;
}
