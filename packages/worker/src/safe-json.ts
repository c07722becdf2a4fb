import { inspect } from 'node:util';

/** JSON text that PostgreSQL's jsonb takes, made from any value. */
export interface SafeJson {
  readonly json: string | undefined;
  /** Set when the value could not be kept as it was. */
  readonly problem: 'result_unserialisable' | 'payload_too_large' | undefined;
}

/** Results larger than this are replaced by a note. */
export const maxResultBytes = 1_048_576;
/** So are those that are nested deeper: readers of JSON, PostgreSQL among them, go down by recursion. */
const maxDepth = 1_000;

// What jsonb refuses although JSON allows it: NUL, lone surrogates (JSON.stringify writes both as escapes).
const refusedByJsonb = /\\u(?:0000|d[89a-f][0-9a-f]{2})/i;

/** Serialises a handler's result or a log line's fields; never throws, whatever the value is. */
export function safeJson(value: unknown, maxBytes = maxResultBytes): SafeJson {
  if (value === undefined) return { json: undefined, problem: undefined };
  let json: string | undefined;
  try {
    json = stringify(value, bigIntAsText);
    if (json !== undefined && refusedByJsonb.test(json)) json = stringify(value, asStorable);
  } catch {
    return note('result_unserialisable', `A ${typeof value} that JSON cannot hold`);
  }
  if (json === undefined) return note('result_unserialisable', `A ${typeof value}`);
  if (Buffer.byteLength(json) > maxBytes) {
    return note('payload_too_large', `JSON of more than ${String(maxBytes)} bytes`);
  }
  if (isTooDeep(json)) {
    return note('result_unserialisable', `JSON nested deeper than ${String(maxDepth)}`);
  }
  return { json, problem: undefined };
}

/** Whether a stored value is the note that stands for one which could not be kept. */
export function isStoredNote(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('holdfast' in value)) return false;
  return value.holdfast === 'result_unserialisable' || value.holdfast === 'payload_too_large';
}

/** Unlike its declared type, JSON.stringify answers undefined for functions and symbols. */
function stringify(
  value: unknown,
  replacer: (key: string, value: unknown) => unknown,
): string | undefined {
  return JSON.stringify(value, replacer);
}

function isTooDeep(json: string): boolean {
  // Each level takes two brackets.
  if (json.length <= maxDepth * 2) return false;
  let depth = 0;
  let isInText = false;
  for (let index = 0; index < json.length && depth <= maxDepth; index += 1) {
    const unit = json[index];
    // A backslash stands in texts only, and what follows it is no end of the text.
    if (unit === '\\') index += 1;
    else if (unit === '"') isInText = !isInText;
    else if (!isInText) depth += bracketStep(unit);
  }
  return depth > maxDepth;
}

function bracketStep(unit: string | undefined): number {
  if (unit === '[' || unit === '{') return 1;
  return unit === ']' || unit === '}' ? -1 : 0;
}

function note(problem: NonNullable<SafeJson['problem']>, message: string): SafeJson {
  return { json: JSON.stringify({ holdfast: problem, message }), problem };
}

function bigIntAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}

function asStorable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'string') return storableText(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).map(([key, entry]) => [storableText(key), entry] as const);
  return Object.fromEntries(entries);
}

const unstorable = /\u0000|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text without what PostgreSQL cannot store: NUL and lone surrogates become visible escapes. */
export function storableText(text: string): string {
  return text.replace(
    unstorable,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Text for whatever handlers in plain JavaScript hand in where a text belongs; never throws. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return inspect(value);
  } catch {
    return `a ${typeof value} that cannot be shown`;
  }
}

const cutMarker = '… [cut]';

/** Text of at most `maxLength` UTF-16 units, with a marker where it was cut. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  return text.slice(0, maxLength - cutMarker.length) + cutMarker;
}

/** Storable text of at most `maxLength` units, whatever the length of the given one. */
export function storableCut(text: string, maxLength: number): string {
  // What is cut off in the end needs no look: a text of many megabytes costs no more than a short one.
  return cutText(storableText(text.slice(0, maxLength + 1)), maxLength);
}
