import type { JobContext } from '../handler.ts';

/** The headers that a job's payload may add, as they are sent. */
export type UserHeaders = Readonly<Record<string, string>>;

const maxHeaderCount = 64;
const maxHeaderBytes = 8_192;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const visibleAscii = /^[\t\u0020-\u007e]*$/;

/**
 * Headers that belong to the connection, to proxies or to Holdfast. The destination relies on them, so whoever may write a
 * payload must not be able to forge them.
 */
const reservedNames: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'http2-settings',
  'idempotency-key',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
  'x-real-ip',
]);
const reservedPrefixes = ['proxy-', 'x-forwarded-', 'holdfast-'];

/** What is wrong with the payload's headers, one line each, by name and never by value; empty when nothing is. */
export function findHeaderProblems(headers: Readonly<Record<string, unknown>>): readonly string[] {
  const entries = Object.entries(headers);
  if (entries.length > maxHeaderCount) {
    return [`headers: has more than ${String(maxHeaderCount)} entries`];
  }
  const problems = entries.flatMap(([name, value]) => {
    const problem = findHeaderProblem(name, value);
    return problem === undefined
      ? []
      : [`headers.${JSON.stringify(name.slice(0, 64))}: ${problem}`];
  });
  const names = new Set(entries.map(([name]) => name.toLowerCase()));
  if (names.size < entries.length) problems.push('headers: has the same name twice');
  const bytes = entries.reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  if (bytes > maxHeaderBytes)
    problems.push(`headers: is longer than ${String(maxHeaderBytes)} bytes`);
  return problems;
}

/**
 * What Holdfast says about an attempt to every destination. The idempotency key is the same for all attempts of a job; the
 * fencing token only ever rises, so a destination can turn away a late request of an earlier execution.
 */
export function attemptHeaders(context: JobContext): UserHeaders {
  return {
    'idempotency-key': context.job.id,
    'holdfast-attempt': String(context.attempt),
    'holdfast-fencing-token': String(context.job.executionSeq),
  };
}

/** The payload's own headers that may follow a redirect to another origin: none that could carry a secret. */
export function crossOriginHeaders(headers: UserHeaders): UserHeaders {
  return pick(headers, (name) => name === 'accept' || name === 'user-agent');
}

/** The payload's headers without those that describe a body. */
export function bodylessHeaders(headers: UserHeaders): UserHeaders {
  return pick(headers, (name) => !name.startsWith('content-'));
}

function pick(headers: UserHeaders, keep: (lowerCaseName: string) => boolean): UserHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => keep(name.toLowerCase())));
}

function findHeaderProblem(name: string, value: unknown): string | undefined {
  const lower = name.toLowerCase();
  if (!token.test(name)) return 'is not a header name';
  if (lower === '__proto__') return 'is not allowed';
  if (reservedNames.has(lower) || reservedPrefixes.some((prefix) => lower.startsWith(prefix))) {
    return 'is set by Holdfast or by the connection and must be left out';
  }
  if (typeof value !== 'string') return 'must be a string';
  if (!visibleAscii.test(value)) return 'may hold only visible ASCII characters, blanks and tabs';
  return undefined;
}
