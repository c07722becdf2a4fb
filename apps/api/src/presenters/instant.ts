/** An instant as answered. */
export function presentInstant(at: Date): string {
  return at.toISOString();
}

/** An instant that may be missing, as answered. */
export function presentMaybe(at: Date | null | undefined): string | null {
  return at === null || at === undefined ? null : at.toISOString();
}
