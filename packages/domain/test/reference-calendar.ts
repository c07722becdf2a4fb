/** One minute as the wall clock of a zone shows it. */
export interface WallMinute {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * The instants at which a schedule should fire in [fromMs, toMs], found by looking at every single
 * minute of the range as Intl shows it. Shares no code with what it checks.
 */
export class ReferenceCalendar {
  readonly #instantsByWall = new Map<number, number[]>();
  readonly #minutes: { readonly instantMs: number; readonly wall: number }[] = [];

  readonly fromMs: number;
  readonly toMs: number;

  constructor(timezone: string, fromMs: number, toMs: number) {
    this.fromMs = fromMs;
    this.toMs = toMs;
    const format = new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      hourCycle: 'h23',
      dateStyle: 'short',
      timeStyle: 'medium',
    });
    for (let instantMs = fromMs - dayMs; instantMs <= toMs + dayMs; instantMs += minuteMs) {
      const wall = Date.parse(`${format.format(instantMs).replace(', ', 'T')}Z`);
      this.#minutes.push({ instantMs, wall });
      this.#instantsByWall.set(wall, [...(this.#instantsByWall.get(wall) ?? []), instantMs]);
    }
  }

  /** Every instant whose wall clock matches. */
  elapsed(matches: (wall: WallMinute) => boolean): string[] {
    return this.#within(
      this.#minutes
        .filter(({ wall }) => matches(wallMinute(wall)))
        .map((minute) => minute.instantMs),
    );
  }

  /** For every wall time that matches, also those that a gap swallowed: its first instant, or the first after the gap. */
  fixed(matches: (wall: WallMinute) => boolean): string[] {
    const first = (this.#minutes[0]?.wall ?? 0) + dayMs / 2;
    const last = (this.#minutes.at(-1)?.wall ?? 0) - dayMs / 2;
    const instants = new Set<number>();
    for (let wall = first; wall <= last; wall += minuteMs) {
      if (matches(wallMinute(wall))) instants.add(this.#firstInstantAtOrAfter(wall));
    }
    return this.#within([...instants]);
  }

  #firstInstantAtOrAfter(wall: number): number {
    const [exact] = this.#instantsByWall.get(wall) ?? [];
    return exact ?? this.#minutes.find((minute) => minute.wall > wall)?.instantMs ?? NaN;
  }

  #within(instants: readonly number[]): string[] {
    return instants
      .filter((instantMs) => instantMs >= this.fromMs && instantMs <= this.toMs)
      .map((instantMs) => new Date(instantMs).toISOString());
  }
}

/** The changes of a zone's offset in a year, found hour by hour. */
export function offsetChanges(timezone: string, year: number): number[] {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    timeZoneName: 'longOffset',
  });
  const offset = (instantMs: number): string => format.format(instantMs).split(', ')[1] ?? '';
  const changes: number[] = [];
  const endMs = Date.UTC(year + 1, 0, 1);
  let previous = offset(Date.UTC(year, 0, 1));
  for (let instantMs = Date.UTC(year, 0, 1); instantMs < endMs; instantMs += 3_600_000) {
    const current = offset(instantMs);
    if (current !== previous) changes.push(instantMs);
    previous = current;
  }
  return changes;
}

function wallMinute(wall: number): WallMinute {
  const date = new Date(wall);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
  };
}
