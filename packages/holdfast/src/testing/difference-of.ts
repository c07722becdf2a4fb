/**
 * Where a stored value is not what was expected, in words for people; `undefined` when it is. Properties that are not
 * expected may be there; lists have the same length. A matcher of a test runner, such as `expect.any(String)`, may stand
 * for any value.
 *
 * @param path what the value is called in the answer
 */
export function differenceOf(expected: unknown, actual: unknown, path: string): string | undefined {
  if (isMatcher(expected)) {
    if (expected.asymmetricMatch(actual)) return undefined;
    return `${path} is ${shown(actual)}, which the matcher does not accept`;
  }
  const wanted = asStored(expected);
  if (Array.isArray(wanted)) return differenceOfLists(wanted, actual, path);
  if (typeof wanted === 'object' && wanted !== null) {
    return differenceOfObjects(wanted, actual, path);
  }
  return wanted === actual ? undefined : unequal(wanted, actual, path);
}

function differenceOfLists(
  expected: readonly unknown[],
  actual: unknown,
  path: string,
): string | undefined {
  if (!Array.isArray(actual)) return unequal(expected, actual, path);
  if (actual.length !== expected.length) {
    return `${path} has ${String(actual.length)} items instead of ${String(expected.length)}`;
  }
  return firstOf(expected.entries(), ([index, item]) =>
    differenceOf(item, actual[index], `${path}[${String(index)}]`),
  );
}

function differenceOfObjects(expected: object, actual: unknown, path: string): string | undefined {
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) {
    return unequal(expected, actual, path);
  }
  const found = new Map<string, unknown>(Object.entries(actual));
  return firstOf(Object.entries(expected), ([key, value]) =>
    differenceOf(value, found.get(key), `${path}.${key}`),
  );
}

function firstOf<Item>(
  items: Iterable<Item>,
  look: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function unequal(expected: unknown, actual: unknown, path: string): string {
  return `${path} is ${shown(actual)} instead of ${shown(expected)}`;
}

const shownLength = 200;

/** A value for people, cut when it is long. */
export function shown(value: unknown): string {
  const text: unknown = JSON.stringify(value, (_, part: unknown) =>
    isMatcher(part) ? '(a matcher)' : asStored(part),
  );
  const whole = typeof text === 'string' ? text : String(value);
  return whole.length <= shownLength ? whole : `${whole.slice(0, shownLength)}…`;
}

/** What becomes of a value when it is stored as JSON. */
function asStored(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return hasJsonForm(value) ? value.toJSON() : value;
}

function hasJsonForm(value: unknown): value is { toJSON(): unknown } {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && 'toJSON' in value && typeof value.toJSON === 'function';
}

interface Matcher {
  asymmetricMatch(actual: unknown): boolean;
}

function isMatcher(value: unknown): value is Matcher {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && 'asymmetricMatch' in value && typeof value.asymmetricMatch === 'function';
}
