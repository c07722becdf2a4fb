import { pipeline } from 'node:stream';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ExchangeFailure } from './exchange-failure.ts';

/** The beginning of a body, decompressed. */
export interface BodyExcerpt {
  readonly bytes: Buffer;
  /** All bytes that were read, counted after decompression. */
  readonly totalBytes: number;
  /** Whether there was more than {@link bytes}. */
  readonly truncated: boolean;
}

/** An answer may have this many bytes, counted after decompression. */
const maxBodyBytes = 1_048_576;

/** This much of a successful answer's body is kept, */
const keptBodyBytes = 65_536;

/** and this much of a failed one's, for the log. */
const keptFailureBytes = 2_048;

/** The excerpt of an answer whose body nobody looks at. */
export const noBody: BodyExcerpt = { bytes: Buffer.alloc(0), totalBytes: 0, truncated: false };

/**
 * Reads a body to its end and keeps its beginning.
 *
 * @throws ExchangeFailure `response_too_large` as soon as the cap is passed, `response_encoding_refused` for a chain of
 * encodings or an unknown one; what the stream or the decompressor throws.
 */
export async function readWholeBody(
  body: Readable,
  contentEncoding: string | undefined,
): Promise<BodyExcerpt> {
  const chunks = new Excerpt(keptBodyBytes);
  for await (const chunk of decoded(body, contentEncoding)) {
    chunks.add(chunk);
    if (chunks.totalBytes > maxBodyBytes) {
      throw new ExchangeFailure('response_too_large', `more than ${String(maxBodyBytes)} bytes`);
    }
  }
  return chunks.excerpt();
}

/**
 * Reads the beginning of the body of an answer that failed by its status. Whatever happens to the body meanwhile, it is the
 * status that counts, so this never throws.
 */
export async function readBodyStart(
  body: Readable,
  contentEncoding: string | undefined,
): Promise<BodyExcerpt> {
  const chunks = new Excerpt(keptFailureBytes);
  try {
    for await (const chunk of decoded(body, contentEncoding)) {
      chunks.add(chunk);
      if (chunks.totalBytes > keptFailureBytes) break;
    }
  } catch {
    return chunks.excerpt();
  }
  return chunks.excerpt();
}

class Excerpt {
  readonly #limitBytes: number;
  readonly #kept: Buffer[] = [];
  #keptBytes = 0;
  totalBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(chunk: Buffer): void {
    const part = chunk.subarray(0, this.#limitBytes - this.#keptBytes);
    if (part.length > 0) this.#kept.push(part);
    this.#keptBytes += part.length;
    this.totalBytes += chunk.length;
  }

  excerpt(): BodyExcerpt {
    const truncated = this.totalBytes > this.#keptBytes;
    return { bytes: Buffer.concat(this.#kept), totalBytes: this.totalBytes, truncated };
  }
}

/** Undoes at most one encoding, although none was asked for: some servers ignore the request for `identity`. */
async function* decoded(
  body: Readable,
  contentEncoding: string | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const decoder = decoderFor(contentEncoding);
  if (decoder === undefined) {
    const plain: AsyncIterable<Buffer> = body;
    yield* plain;
    return;
  }
  try {
    // The decoder fails with whatever the body fails with.
    yield* pipeline(body, decoder, () => undefined);
  } catch (error) {
    if (body.errored !== null) throw error;
    throw new ExchangeFailure('response_invalid', `not ${String(contentEncoding)}`);
  }
}

function decoderFor(contentEncoding: string | undefined): Transform | undefined {
  const codings = (contentEncoding ?? '')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length === 0) return undefined;
  switch (codings.join()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'deflate':
      return createInflate();
    case 'br':
      return createBrotliDecompress();
    default:
      throw new ExchangeFailure('response_encoding_refused', codings.join());
  }
}
