import type { Database } from './database.ts';

/** A batch whose endings are settled, or those that belong to none. */
export type EndingGroup = string | undefined;

/** What cannot be settled waits this long for the next try, and twice as long after each. */
const waitMs = { first: 5_000, most: 300_000 } as const;

interface Waiting {
  readonly untilMs: number;
  readonly waitMs: number;
}

/** What could not be settled, so that it does not hold up everything else. Each process keeps its own. */
export class SetAside {
  readonly #waiting = new Map<EndingGroup, Waiting>();

  /** The groups that wait for their next try. */
  groups(): readonly EndingGroup[] {
    const now = performance.now();
    return [...this.#waiting].flatMap(([group, { untilMs }]) => (untilMs > now ? [group] : []));
  }

  /** Sets a group aside, longer than the time before. */
  add(group: EndingGroup): void {
    const before = this.#waiting.get(group)?.waitMs ?? waitMs.first / 2;
    const next = Math.min(2 * before, waitMs.most);
    this.#waiting.set(group, { untilMs: performance.now() + next, waitMs: next });
  }

  /** Forgets groups that were settled after all. */
  clear(groups: Iterable<EndingGroup>): void {
    if (this.#waiting.size === 0) return;
    for (const group of groups) this.#waiting.delete(group);
  }
}

const known = new WeakMap<Database, SetAside>();

/** What this process has set aside in the database. */
export function setAsideOf(database: Database): SetAside {
  const aside = known.get(database) ?? new SetAside();
  known.set(database, aside);
  return aside;
}
