import type { SecureContext } from 'node:tls';
import { Client } from 'undici';
import type { Dispatcher } from 'undici';
import type { AddressLookup } from './address-resolver.ts';
import type { EgressPolicy } from './egress-policy.ts';
import { ExchangeFailure } from './exchange-failure.ts';
import { guardedConnector } from './guarded-connector.ts';
import type { ResponseHeaders } from './http-request-result.ts';
import type { Hop } from './redirects.ts';
import type { UserHeaders } from './request-headers.ts';
import { noBody, readBodyStart, readWholeBody } from './response-body.ts';
import type { BodyExcerpt } from './response-body.ts';
import { checkUrl } from './url-gate.ts';

/** One answer, its body read as far as it was wanted. */
export interface Answer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: BodyExcerpt;
}

/** How much of a body is read: to its end, its beginning at best, or nothing. */
export type BodyReading = 'whole' | 'start' | 'none';

/** What an exchange needs beside the request. */
export interface ExchangeOptions {
  readonly policy: EgressPolicy;
  readonly lookup: AddressLookup;
  readonly secureContext: SecureContext;
  /** Sent with every hop. A user header of the same name wins; those that must not be forged are refused earlier. */
  readonly systemHeaders: UserHeaders;
  readonly signal: AbortSignal;
  readonly bodyReading: (status: number) => BodyReading;
}

const maxHeaderBytes = 16_384;

/**
 * Sends one request through all gates and reads its answer.
 *
 * Every exchange has a client and a socket of its own, so that no kept connection can lead past a gate. undici's own time
 * limits are off: they count from byte to byte, and only the signal bounds the whole.
 *
 * @throws ExchangeFailure; what undici, the socket or a decompressor throws; the signal's reason.
 */
export async function exchange(hop: Hop, options: ExchangeOptions): Promise<Answer> {
  const verdict = checkUrl(hop.url.href, options.policy);
  if (!verdict.passed)
    throw new ExchangeFailure('egress_denied', `url: ${verdict.refusal} (${hop.url.host})`);
  const client = openClient(verdict.url, options);
  try {
    return await readAnswer(await send(client, hop, options), hop, options);
  } finally {
    await client.destroy();
  }
}

function openClient(url: URL, options: ExchangeOptions): Client {
  return new Client(url.origin, {
    connect: guardedConnector({ ...options, openedRanges: options.policy.openedRanges }),
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: maxHeaderBytes,
  });
}

function send(
  client: Client,
  hop: Hop,
  options: ExchangeOptions,
): Promise<Dispatcher.ResponseData> {
  return client.request({
    path: `${hop.url.pathname}${hop.url.search}`,
    method: hop.method,
    headers: mergeHeaders(options.systemHeaders, hop.headers),
    body: hop.body ?? null,
    signal: options.signal,
  });
}

async function readAnswer(
  response: Dispatcher.ResponseData,
  hop: Hop,
  options: ExchangeOptions,
): Promise<Answer> {
  const { statusCode: status, headers } = response;
  // The signal may destroy the body before anyone listens to it.
  response.body.on('error', () => undefined);
  const encoding = hop.method === 'HEAD' ? undefined : headers['content-encoding'];
  const coding = Array.isArray(encoding) ? encoding.join(',') : encoding;
  switch (options.bodyReading(status)) {
    case 'whole':
      return { status, headers, body: await readWholeBody(response.body, coding) };
    case 'start':
      return { status, headers, body: await readBodyStart(response.body, coding) };
    case 'none':
      return { status, headers, body: noBody };
  }
}

function mergeHeaders(base: UserHeaders, own: UserHeaders): Record<string, string> {
  const merged = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(own)) merged.set(name.toLowerCase(), value);
  return Object.fromEntries(merged);
}
