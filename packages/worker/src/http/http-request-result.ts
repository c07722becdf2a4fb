import type { BodyExcerpt } from './response-body.ts';

/** What is stored of an answer. It was written by a stranger: never show it as anything but text. */
export interface HttpRequestResult {
  readonly status: number;
  /** Lower-case names; without cookies and what belongs to authentication. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** At most the first 64 KiB, read as UTF-8. */
  readonly body: string;
  /** The length of the whole body, after decompression. */
  readonly bodyBytes: number;
  readonly bodyTruncated: boolean;
}

/** Headers as undici gives them. */
export type ResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** So that a body of control characters, six bytes each in JSON, stays well below the limit of a job's result. */
const maxBodyJsonBytes = 3 * 65_536;

const secretHeaders: ReadonlySet<string> = new Set([
  'authentication-info',
  'authorization',
  'cookie',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
]);

/** Brings an answer into the form in which it is stored: any JSON writer and PostgreSQL's jsonb accept it. */
export function toResult(answer: {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body: BodyExcerpt;
}): HttpRequestResult {
  const text = toStorableText(answer.body.bytes);
  return {
    status: answer.status,
    headers: storableHeaders(answer.headers),
    body: text.value,
    bodyBytes: answer.body.totalBytes,
    bodyTruncated: answer.body.truncated || text.shortened,
  };
}

function storableHeaders(headers: ResponseHeaders): HttpRequestResult['headers'] {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || secretHeaders.has(name.toLowerCase()) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(kept);
}

/**
 * Bytes that are no UTF-8 become U+FFFD, and NUL, which jsonb cannot hold, becomes its visible symbol U+2400. A character
 * that the excerpt cuts in half is left out.
 */
function toStorableText(bytes: Buffer): { readonly value: string; readonly shortened: boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: false });
  const text = decoder.decode(bytes, { stream: true }).replaceAll('\u0000', '\u2400');
  let jsonBytes = 0;
  let length = 0;
  for (const character of text) {
    jsonBytes += Buffer.byteLength(JSON.stringify(character)) - 2;
    if (jsonBytes > maxBodyJsonBytes) return { value: text.slice(0, length), shortened: true };
    length += character.length;
  }
  return { value: text, shortened: false };
}
