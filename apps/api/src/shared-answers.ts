import type { Clock } from '@holdfast/runtime';

/** Answers questions that many ask at the same time with one piece of work. */
export interface SharedAnswers<Value> {
  get(key: string): Promise<Value>;
  /** Forgets everything: what is asked from now on is looked up anew. */
  forget(): void;
}

// Work that is repeated as soon as it may be takes a sixth of the time of one connection.
const restPerWork = 5;
const longestRestMs = 5_000;
// More questions than people ask at a time.
const mostKept = 1_000;

interface Kept<Value> {
  readonly answer: Promise<Value>;
  freshUntilMs: number;
}

/**
 * Keeps each answer for five times as long as it took to make, at most five seconds: what is cheap is always new, and
 * what is dear is not done over and over for everybody who looks.
 */
export function shareAnswers<Value>(
  ask: (key: string) => Promise<Value>,
  clock: Clock,
): SharedAnswers<Value> {
  const kept = new Map<string, Kept<Value>>();
  const start = (key: string): Kept<Value> => {
    const startedMs = clock.monotonicMs();
    const made: Kept<Value> = { answer: ask(key), freshUntilMs: Number.POSITIVE_INFINITY };
    made.answer.then(
      () => {
        const nowMs = clock.monotonicMs();
        made.freshUntilMs = nowMs + Math.min(longestRestMs, restPerWork * (nowMs - startedMs));
      },
      // A failure is not kept.
      () => {
        if (kept.get(key) === made) kept.delete(key);
      },
    );
    return made;
  };
  return {
    get(key) {
      const known = kept.get(key);
      if (known !== undefined && clock.monotonicMs() < known.freshUntilMs) return known.answer;
      if (kept.size >= mostKept) kept.clear();
      const made = start(key);
      kept.set(key, made);
      return made.answer;
    },
    forget() {
      kept.clear();
    },
  };
}
