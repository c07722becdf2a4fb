import type { SecureContext } from 'node:tls';
import { NonRetryableError, RetryableError } from '@holdfast/domain';
import type { JobContext, JobHandler } from '../handler.ts';
import { systemLookup } from './address-resolver.ts';
import type { AddressLookup } from './address-resolver.ts';
import { startDeadline } from './deadline.ts';
import type { EgressPolicy } from './egress-policy.ts';
import { classifyExchangeError, ExchangeFailure, publicError } from './exchange-failure.ts';
import { makeSecureContext } from './guarded-connector.ts';
import { exchange } from './http-exchange.ts';
import type { Answer, BodyReading, ExchangeOptions } from './http-exchange.ts';
import { readHttpRequest } from './http-request-payload.ts';
import type { HttpRequest } from './http-request-payload.ts';
import { toResult } from './http-request-result.ts';
import { isRedirect, nextHop } from './redirects.ts';
import type { Hop } from './redirects.ts';
import { attemptHeaders } from './request-headers.ts';
import { parseRetryAfterMs } from './retry-after.ts';

/** The job type that the built-in handler serves. */
export const httpRequestType = 'http.request';

/** What the operator may know about a failure and the job's owner may not. */
export interface HttpFailureReport {
  readonly jobId: string;
  readonly code: string;
  readonly host: string;
  /** Which gate refused and why, or the code of the socket's error. */
  readonly detail: string;
}

/** What the handler is made from. */
export interface HttpRequestHandlerOptions {
  readonly policy: EgressPolicy;
  /** For the `User-Agent`. */
  readonly version: string;
  /** Called before the error is thrown; for the process's own log, never for the job's. */
  readonly reportFailure?: (report: HttpFailureReport) => void;
  /** The operating system's resolver unless given. */
  readonly lookup?: AddressLookup;
  /** PEM certificates trusted beside the built-in ones. */
  readonly trustedCertificates?: readonly string[];
  /** Milliseconds since the epoch, for a `Retry-After` with a date. */
  readonly now?: () => number;
}

const retryableStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Makes the handler of `http.request` jobs: one request to a destination that the egress policy allows, at least once.
 *
 * The payload is described at `readHttpRequest`, the result at `HttpRequestResult`. It fails with
 * `http_request_invalid` and `egress_denied`, never retried; `http_status`, retried for 408, 425, 429 and 5xx, after the
 * answer's `Retry-After` if it has one, its beginning goes to the job's log; and the codes of `ExchangeFailure`. Proxy settings of the environment are ignored.
 */
export function createHttpRequestHandler(options: HttpRequestHandlerOptions): JobHandler {
  const secureContext = makeSecureContext(options.trustedCertificates);
  return async (payload, context) => {
    const attempt = { options, secureContext, context };
    const request = requireRequest(payload, attempt);
    const answer = await obtainAnswer(request, attempt);
    context.signal.throwIfAborted();
    if (isExpected(answer.status, request)) return toResult(answer);
    throw statusError(answer, attempt);
  };
}

interface Attempt {
  readonly options: HttpRequestHandlerOptions;
  readonly secureContext: SecureContext;
  readonly context: JobContext;
}

function requireRequest(payload: unknown, attempt: Attempt): HttpRequest {
  const reading = readHttpRequest(payload);
  if (reading.ok) return reading.request;
  if (reading.egress !== undefined) {
    const failure = new ExchangeFailure('egress_denied', `url: ${reading.egress}`);
    throw publicErrorFor(failure, { ...attempt, host: '' });
  }
  throw new NonRetryableError(`Invalid http.request payload: ${reading.problems.join('; ')}`, {
    code: 'http_request_invalid',
  });
}

async function obtainAnswer(request: HttpRequest, attempt: Attempt): Promise<Answer> {
  const { signal: jobSignal } = attempt.context;
  const deadline = startDeadline({
    parent: jobSignal,
    timeoutMs: request.timeoutMs,
    reason: new ExchangeFailure('deadline_exceeded', 'the total deadline passed'),
  });
  try {
    const options = exchangeOptionsFor(request, { ...attempt, signal: deadline.signal });
    return await sendAndFollow(request, options);
  } catch (error) {
    // The engine knows why it aborted; whatever broke because of that says less.
    jobSignal.throwIfAborted();
    const cause: unknown = deadline.signal.aborted ? deadline.signal.reason : error;
    throw publicErrorFor(cause, { ...attempt, host: request.url.host });
  } finally {
    deadline.stop();
  }
}

function exchangeOptionsFor(
  request: HttpRequest,
  attempt: Attempt & { readonly signal: AbortSignal },
): ExchangeOptions {
  const { options, context, signal } = attempt;
  return {
    policy: options.policy,
    lookup: options.lookup ?? systemLookup,
    secureContext: attempt.secureContext,
    systemHeaders: {
      'user-agent': `Holdfast/${options.version}`,
      'accept-encoding': 'identity',
      ...attemptHeaders(context),
    },
    signal,
    bodyReading: (status) => bodyReadingFor(status, request),
  };
}

function bodyReadingFor(status: number, request: HttpRequest): BodyReading {
  if (isExpected(status, request)) return 'whole';
  return isRedirect(status) ? 'none' : 'start';
}

async function sendAndFollow(request: HttpRequest, options: ExchangeOptions): Promise<Answer> {
  let hop: Hop = request;
  const rules = request.followRedirects;
  for (let hopsLeft = rules?.maxHops ?? 0; ; hopsLeft -= 1) {
    const answer = await exchange(hop, options);
    const { status } = answer;
    if (!isRedirect(status) || isExpected(status, request)) return answer;
    if (rules === undefined || hopsLeft === 0) {
      throw new ExchangeFailure('redirect_refused', `status ${String(status)}`);
    }
    const location = answer.headers['location'];
    hop = nextHop(
      hop,
      { status, location: typeof location === 'string' ? location : undefined },
      rules,
    );
  }
}

function statusError(answer: Answer, attempt: Attempt): NonRetryableError | RetryableError {
  const { status } = answer;
  const message = `The destination answered with status ${String(status)}`;
  attempt.context.log.warn(message, { body: toResult(answer).body });
  if (!isRetryable(status)) return new NonRetryableError(message, { code: 'http_status' });
  const now = attempt.options.now ?? Date.now;
  const retryAfterMs = parseRetryAfterMs(answer.headers['retry-after'], now());
  return new RetryableError(message, {
    code: 'http_status',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function isExpected(status: number, request: HttpRequest): boolean {
  return request.expectStatus?.includes(status) ?? (status >= 200 && status <= 299);
}

function isRetryable(status: number): boolean {
  return retryableStatuses.has(status) || status >= 500;
}

function publicErrorFor(error: unknown, attempt: Attempt & { readonly host: string }): unknown {
  const failure = classifyExchangeError(error);
  if (failure === undefined) return error;
  const { code, detail } = failure;
  attempt.options.reportFailure?.({
    jobId: attempt.context.job.id,
    code,
    host: attempt.host,
    detail,
  });
  return publicError(code);
}
