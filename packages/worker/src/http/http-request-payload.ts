import { isRecord, parseDurationMs } from '@holdfast/domain';
import { findHeaderProblems } from './request-headers.ts';
import type { UserHeaders } from './request-headers.ts';
import { readUrl } from './url-gate.ts';
import type { UrlRefusal } from './url-gate.ts';

/** The methods that an HTTP job may use. */
const httpMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** One of the methods that an HTTP job may use. */
export type HttpMethod = (typeof httpMethods)[number];

/** How redirects are followed; without it they are failures. */
export interface RedirectRules {
  /** 1 to 3. */
  readonly maxHops: number;
  /** Whether a body may be sent again to another origin, after 307 and 308. */
  readonly resendBody: boolean;
}

/** A payload of an `http.request` job, read and checked. */
export interface HttpRequest {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly headers: UserHeaders;
  readonly body: string | undefined;
  readonly timeoutMs: number;
  /** The only statuses that count as success; `undefined` means every 2xx. */
  readonly expectStatus: readonly number[] | undefined;
  readonly followRedirects: RedirectRules | undefined;
}

/** The request, or every problem of the payload as `field: what is wrong`. `egress` is set when the URL itself is refused. */
export type HttpRequestReading =
  | { readonly ok: true; readonly request: HttpRequest }
  | { readonly ok: false; readonly problems: readonly string[]; readonly egress?: UrlRefusal };

const defaultTimeoutMs = 30_000;
const maxTimeoutMs = 3_600_000;
const maxRedirectHops = 3;
const fields = new Set([
  'url',
  'method',
  'headers',
  'body',
  'timeout',
  'expectStatus',
  'followRedirects',
]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the payload `{ url, method?, headers?, body?, timeout?, expectStatus?, followRedirects? }`.
 *
 * `method` is POST unless given. A `body` that is a string is sent as it is, any other JSON value as JSON. `timeout` is a
 * duration such as `"30s"` (the default), at most an hour, for everything from resolving the name to the last byte.
 * `expectStatus` is a status or a list of them. `followRedirects` is `true` (3 hops, bodies stay within the origin) or
 * `{ maxHops?, resendBody? }`. Problems never repeat a value, which may be a secret.
 */
export function readHttpRequest(payload: unknown): HttpRequestReading {
  if (!isRecord(payload)) return { ok: false, problems: ['payload: must be an object'] };
  const problems: string[] = [];
  const url = readUrlField(payload, problems);
  const method = readMethod(payload, problems);
  const body = readBody(payload, { method, problems });
  const request = {
    method,
    headers: withContentType(readHeaders(payload, problems), payload['body']),
    body,
    timeoutMs: readTimeoutMs(payload, problems),
    expectStatus: readExpectStatus(payload, problems),
    followRedirects: readRedirectRules(payload, problems),
  };
  const unknown = Object.keys(payload).filter((name) => !fields.has(name));
  if (unknown.length > 0) problems.push('payload: has fields that http.request does not know');
  if (problems.length > 0) return { ok: false, problems };
  if (!url.passed) return { ok: false, problems: ['url: is refused'], egress: url.refusal };
  return { ok: true, request: { url: url.url, ...request } };
}

function readUrlField(payload: Fields, problems: string[]): ReturnType<typeof readUrl> {
  const { url } = payload;
  const verdict = readUrl(typeof url === 'string' ? url : '');
  if (!verdict.passed && verdict.refusal === 'malformed') problems.push('url: is not a URL');
  return verdict;
}

function readMethod(payload: Fields, problems: string[]): HttpMethod {
  const asked = payload['method'] ?? 'POST';
  const method = httpMethods.find((known) => known === asked);
  if (method === undefined) problems.push(`method: must be one of ${httpMethods.join(', ')}`);
  return method ?? 'POST';
}

function readBody(
  payload: Fields,
  context: { readonly method: HttpMethod; readonly problems: string[] },
): string | undefined {
  const body = payload['body'] ?? undefined;
  if (body === undefined) return undefined;
  if (context.method === 'GET' || context.method === 'HEAD') {
    context.problems.push('body: is not sent with GET or HEAD');
  }
  return typeof body === 'string' ? body : JSON.stringify(body);
}

function readHeaders(payload: Fields, problems: string[]): UserHeaders {
  const headers = payload['headers'] ?? {};
  if (!isRecord(headers)) {
    problems.push('headers: must be an object');
    return {};
  }
  const found = findHeaderProblems(headers);
  problems.push(...found);
  if (found.length > 0) return {};
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function withContentType(headers: UserHeaders, body: unknown): UserHeaders {
  const given = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  if (given || body === undefined || body === null) return headers;
  const type = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  return { ...headers, 'content-type': type };
}

function readTimeoutMs(payload: Fields, problems: string[]): number {
  const timeout = payload['timeout'] ?? undefined;
  if (timeout === undefined) return defaultTimeoutMs;
  const ms = typeof timeout === 'string' ? parseDurationMs(timeout) : undefined;
  if (ms !== undefined && ms >= 1 && ms <= maxTimeoutMs) return ms;
  problems.push('timeout: must be a duration such as "30s", at most 1h');
  return defaultTimeoutMs;
}

function readExpectStatus(payload: Fields, problems: string[]): readonly number[] | undefined {
  const expected = payload['expectStatus'] ?? undefined;
  if (expected === undefined) return undefined;
  const list: readonly unknown[] = Array.isArray(expected) ? expected : [expected];
  const statuses = list.filter(isFinalStatus);
  if (statuses.length === list.length && list.length > 0 && list.length <= 32) return statuses;
  problems.push('expectStatus: must be a status from 200 to 599 or a list of them');
  return undefined;
}

function readRedirectRules(payload: Fields, problems: string[]): RedirectRules | undefined {
  const asked = payload['followRedirects'] ?? false;
  if (asked === false) return undefined;
  const rules = asked === true ? {} : asked;
  const {
    maxHops = maxRedirectHops,
    resendBody = false,
    ...rest
  } = isRecord(rules) ? rules : { rules };
  const known = Object.keys(rest).length === 0;
  if (known && isHopCount(maxHops) && typeof resendBody === 'boolean')
    return { maxHops, resendBody };
  problems.push('followRedirects: must be a boolean or { maxHops: 1 to 3, resendBody: boolean }');
  return undefined;
}

function isHopCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxRedirectHops;
}

function isFinalStatus(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 200 && Number(value) <= 599;
}
