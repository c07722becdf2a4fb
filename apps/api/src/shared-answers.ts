import type { Clock } from '@holdfast/runtime';

/** Answers questions that many ask at the same time with one piece of work. */
export interface SharedAnswers<Value> {
  get(key: string): Promise<Value>;
}

/** Keeps each answer for `freshMs`; whoever asks while it is being made gets the same one. */
export function shareAnswers<Value>(
  ask: (key: string) => Promise<Value>,
  { freshMs, clock }: { readonly freshMs: number; readonly clock: Clock },
): SharedAnswers<Value> {
  const kept = new Map<string, { readonly answer: Promise<Value>; readonly atMs: number }>();
  return {
    get(key) {
      const nowMs = clock.monotonicMs();
      const known = kept.get(key);
      if (known !== undefined && nowMs - known.atMs < freshMs) return known.answer;
      const answer = ask(key);
      kept.set(key, { answer, atMs: nowMs });
      // A failure is not kept.
      answer.catch(() => kept.delete(key));
      return answer;
    },
  };
}
