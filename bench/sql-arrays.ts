/** An array literal of values that need no quotes, or have them already. */
export function arrayOf(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`;
}

/** An array literal of nothing but nulls. */
export function emptyArray(length: number): string {
  return `{${'NULL,'.repeat(length).slice(0, -1)}}`;
}
