/** Chance that can be had again. */
export interface SeededRandom {
  readonly seed: number;
  /** A number from 0, less than 1. */
  readonly next: () => number;
  /** A whole number from 0, less than `limit`. */
  below(limit: number): number;
  pick<Item>(list: readonly Item[]): Item;
  /** The items in any order. */
  shuffle<Item>(list: readonly Item[]): readonly Item[];
}

/** Gives the same numbers for the same seed; the generator is Tommy Ettinger's Mulberry32. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    seed,
    next,
    below,
    pick(list) {
      const item = list[below(list.length)];
      if (item === undefined) throw new Error('The list is empty');
      return item;
    },
    shuffle: (list) =>
      list
        .map((item) => ({ item, rank: next() }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
  };
}
