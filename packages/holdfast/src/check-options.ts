import { types } from 'node:util';
import { OptionsInvalidError, isName, maxDurationMs, parseDurationMs } from '@holdfast/domain';
import type { Duration } from './job-options.ts';
import { shown } from './shown.ts';

/** Bounds of a duration, in milliseconds. */
export interface DurationBounds {
  readonly minMs?: number;
  readonly maxMs?: number;
}

/** Checks the options of one call and collects what is wrong with them, for callers in plain JavaScript too. */
export class OptionCheck {
  readonly #call: string;
  readonly #problems: string[] = [];

  /** @param call how the call is named in the error, such as `enqueue("mail.send")` */
  constructor(call: string) {
    this.#call = call;
  }

  /** Notes something that is wrong. */
  refuse(problem: string): void {
    this.#problems.push(problem);
  }

  /** @throws OptionsInvalidError when anything was noted */
  done(): void {
    if (this.#problems.length > 0) throw new OptionsInvalidError(this.#call, this.#problems);
  }

  /**
   * Refuses what is no object, and every option that is not among the known ones. Answers whether it is an object.
   *
   * @param what the name of an option that has options of its own
   */
  names(options: unknown, known: readonly string[], what = 'the options'): options is object {
    const keys = keysOf(options);
    if (keys === undefined) this.refuse(`${what} must be an object`);
    for (const name of keys ?? []) {
      if (known.includes(name)) continue;
      const meant = closest(name, known);
      const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
      this.refuse(`there is no option "${name}"${hint}`);
    }
    return keys !== undefined;
  }

  /** Whole milliseconds; `undefined` stays. */
  duration(
    name: string,
    value: Duration | undefined,
    bounds: DurationBounds = {},
  ): number | undefined {
    if (value === undefined) return undefined;
    const { minMs = 0, maxMs = maxDurationMs } = bounds;
    const ms = durationMs(value);
    if (ms !== undefined && ms >= minMs && ms <= maxMs) return ms;
    this.refuse(
      ms === undefined
        ? `${name} must be milliseconds or a duration such as "30s", "5m" or "PT5M", not ${shown(value)}`
        : `${name} must be between ${String(minMs)} and ${String(maxMs)} ms`,
    );
    return undefined;
  }

  /** A whole number within the bounds; `undefined` stays. */
  whole(
    name: string,
    value: number | undefined,
    bounds: { readonly min: number; readonly max: number },
  ): number | undefined {
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && value >= bounds.min && value <= bounds.max) return value;
    this.refuse(
      `${name} must be a whole number from ${String(bounds.min)} to ${String(bounds.max)}, not ${shown(value)}`,
    );
    return undefined;
  }

  /** The name of a queue, schedule or job type. @param what how it is called in the error */
  name(what: string, value: unknown): void {
    if (typeof value === 'string' && isName(value)) return;
    this.refuse(`${what} must be 1 to 128 of the characters A-Z a-z 0-9 . _ : -`);
  }

  /** One of the words; `undefined` stays. */
  oneOf<Word extends string>(
    name: string,
    value: Word | undefined,
    words: readonly Word[],
  ): Word | undefined {
    if (value === undefined || words.includes(value)) return value;
    this.refuse(`${name} must be one of ${words.map((word) => `"${word}"`).join(', ')}`);
    return undefined;
  }

  /** Text for people, of 1 to 500 characters without control characters; `undefined` stays. */
  words(name: string, value: string | undefined): string | undefined {
    if (value === undefined) return undefined;
    const isText = typeof value === 'string' && !/[\p{Cc}\p{Surrogate}]/u.test(value);
    if (isText && value.length >= 1 && value.length <= 500) return value;
    this.refuse(`${name} must be 1 to 500 characters without control characters`);
    return undefined;
  }

  /** An instant that PostgreSQL knows as well; `undefined` stays. */
  instant(name: string, value: Date | undefined): Date | undefined {
    if (value === undefined) return undefined;
    const year = types.isDate(value) ? value.getUTCFullYear() : NaN;
    if (year >= 1 && year <= 9_999) return value;
    this.refuse(`${name} must be a Date of the years 1 to 9999`);
    return undefined;
  }

  /** An instant, or a duration of a millisecond or more; `undefined` stays. */
  deadline(name: string, value: Date | Duration | undefined): ReadDeadline | undefined {
    if (value === undefined) return undefined;
    return types.isDate(value)
      ? { at: this.instant(name, value) }
      : { ms: this.duration(name, value, { minMs: 1 }) };
  }
}

/** An end that was given as an instant, or as a time from the creation of the job on. */
export interface ReadDeadline {
  readonly at?: Date | undefined;
  readonly ms?: number | undefined;
}

/** Callers in plain JavaScript hand in what they have. @throws OptionsInvalidError */
export function requireFunction(call: string, name: string, value: unknown): void {
  if (typeof value === 'function') return;
  throw new OptionsInvalidError(call, [`the ${name} must be a function`]);
}

/** As `names`, where what options there are is said later. @throws OptionsInvalidError */
export function requireOptions(call: string, options: unknown): void {
  if (keysOf(options) === undefined) {
    throw new OptionsInvalidError(call, ['the options must be an object']);
  }
}

/** Callers in plain JavaScript hand in what they have. @throws OptionsInvalidError */
export function requireName(call: string, name: unknown): void {
  const check = new OptionCheck(call);
  check.name('the name', name);
  check.done();
}

/** Reads a duration; `undefined` when it is none. Fractions of a millisecond are rounded. */
export function durationMs(value: Duration): number | undefined {
  if (typeof value === 'string') return parseDurationMs(value);
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? Math.round(value)
    : undefined;
}

/** The names of an object's own properties; `undefined` for anything else, and for a proxy that throws. */
export function keysOf(value: unknown): readonly string[] | undefined {
  try {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.keys(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The known name that differs in the fewest letters, when those are few. */
function closest(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  return known
    .map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** How many letters must be put in, taken out or changed (Levenshtein, 1965). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
