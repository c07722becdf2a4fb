/** Reads a query string: a name that occurs several times becomes an array, everything stays text. */
export function parseSearch(search: string): Record<string, string | string[]> {
  const params = new URLSearchParams(search);
  const entries = [...new Set(params.keys())].map((name) => {
    const values = params.getAll(name);
    const [first = ''] = values;
    return [name, values.length === 1 ? first : values] as const;
  });
  return Object.fromEntries(entries);
}

/** Writes a query string that {@link parseSearch} reads: arrays as repeated names, nothing for what is undefined. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) {
      if (typeof one === 'string' || typeof one === 'number') params.append(name, String(one));
    }
  }
  return params.size === 0 ? '' : `?${params.toString()}`;
}
