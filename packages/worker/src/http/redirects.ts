import { ExchangeFailure } from './exchange-failure.ts';
import type { HttpMethod, RedirectRules } from './http-request-payload.ts';
import { bodylessHeaders, crossOriginHeaders } from './request-headers.ts';
import type { UserHeaders } from './request-headers.ts';
import { readUrl } from './url-gate.ts';

/** One request of a chain. */
export interface Hop {
  readonly url: URL;
  readonly method: HttpMethod;
  readonly headers: UserHeaders;
  readonly body: string | undefined;
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Whether an answer with this status points elsewhere. */
export function isRedirect(status: number): boolean {
  return redirectStatuses.has(status);
}

/**
 * The request that a redirect asks for. The egress policy still has to be asked about its URL.
 *
 * A 303, and a POST after 301 or 302, becomes a GET without a body, as in every browser. Another origin gets neither the
 * payload's headers, except `Accept` and `User-Agent`, nor its body, unless the rules allow that for 307 and 308; a request
 * that would have to go without its body is not sent.
 *
 * @throws ExchangeFailure `redirect_refused`, also for a step from https to http; `egress_denied` for an address of a kind
 * that no request may have.
 */
export function nextHop(
  hop: Hop,
  answer: { readonly status: number; readonly location: string | undefined },
  rules: RedirectRules,
): Hop {
  const url = targetOf(hop.url, answer.location);
  const crossOrigin = url.origin !== hop.url.origin;
  const method = methodAfter(hop.method, answer.status);
  const body = method === hop.method ? hop.body : undefined;
  if (body !== undefined && crossOrigin && !mayResend(answer.status, rules)) {
    throw new ExchangeFailure('redirect_refused', 'the body would go to another origin');
  }
  const headers = body === undefined ? bodylessHeaders(hop.headers) : hop.headers;
  if (!crossOrigin) return { url, method, headers, body };
  return { url, method, headers: withoutSecrets(headers, body), body };
}

function targetOf(from: URL, location: string | undefined): URL {
  if (location === undefined) throw new ExchangeFailure('redirect_refused', 'no single Location');
  const verdict = readUrl(location, from);
  if (!verdict.passed) {
    const code = verdict.refusal === 'malformed' ? 'redirect_refused' : 'egress_denied';
    throw new ExchangeFailure(code, `redirect: ${verdict.refusal}`);
  }
  if (from.protocol === 'https:' && verdict.url.protocol === 'http:') {
    throw new ExchangeFailure('redirect_refused', 'from https to http');
  }
  return verdict.url;
}

function methodAfter(method: HttpMethod, status: number): HttpMethod {
  if (status === 303) return method === 'HEAD' ? 'HEAD' : 'GET';
  return method === 'POST' && (status === 301 || status === 302) ? 'GET' : method;
}

function mayResend(status: number, rules: RedirectRules): boolean {
  return rules.resendBody && (status === 307 || status === 308);
}

function withoutSecrets(headers: UserHeaders, body: string | undefined): UserHeaders {
  const [, contentType] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  const kept = crossOriginHeaders(headers);
  return body === undefined || contentType === undefined
    ? kept
    : { ...kept, 'content-type': contentType };
}
