/** A query string as it is read: one text, several of the same name, or nothing. */
export type RawSearch = Readonly<Record<string, unknown>>;

const longestText = 500;

/** The parameter as text without blanks around it, or undefined when it is missing, empty or too long. */
export function readText(raw: unknown, longest = longestText): string | undefined {
  if (typeof raw !== 'string') return undefined;
  const text = raw.trim();
  return text === '' || text.length > longest ? undefined : text;
}

/** The parameter when it is one of the options, else undefined. */
export function readOneOf<const T extends string>(
  raw: unknown,
  options: readonly T[],
): T | undefined {
  return options.find((option) => option === raw);
}

/** Those of the parameter's values which are options, in the options' order; undefined when none is. */
export function readManyOf<const T extends string>(
  raw: unknown,
  options: readonly T[],
): readonly T[] | undefined {
  const values: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  const found = options.filter((option) => values.includes(option));
  return found.length === 0 ? undefined : found;
}

/** The parameter as an instant in UTC, or undefined when it is none. */
export function readInstant(raw: unknown): string | undefined {
  const ms = typeof raw === 'string' ? Date.parse(raw) : Number.NaN;
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** The properties that are there: so that a missing filter leaves no trace in the URL. */
export function present<T extends object>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  // Only entries without a value are left out, so that each key keeps its type.
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
