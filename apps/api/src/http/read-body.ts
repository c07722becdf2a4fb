import { createGunzip } from 'node:zlib';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { HttpProblem } from './problem.ts';

// After a refusal the rest is read and thrown away for this long, so that the client gets to read the answer.
const lingerMs = 500;

/**
 * Reads a request's body as bytes, unzipped, and stops at the limit whatever `Content-Length` says.
 *
 * @throws HttpProblem `body_too_large`, `unsupported_media_type` for an unknown coding, `invalid_request` for bad gzip
 */
export async function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  const coding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (coding === 'identity') return collect(request, limitBytes);
  if (coding !== 'gzip') {
    throw new HttpProblem('unsupported_media_type', {
      detail: 'Content-Encoding may be gzip or identity',
    });
  }
  const unzipped = request.pipe(createGunzip());
  try {
    return await collect(unzipped, limitBytes);
  } finally {
    request.unpipe(unzipped);
    unzipped.destroy();
  }
}

// By events, not by iteration: leaving an iteration early destroys the socket before the answer is written.
function collect(source: Readable, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const finish = (settle: () => void): void => {
      source.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      // Errors of a stream that was given up concern nobody.
      source.on('error', () => undefined);
      settle();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limitBytes) {
        finish(() => {
          source.pause();
          reject(tooLarge(limitBytes));
        });
      } else chunks.push(chunk);
    };
    const onEnd = (): void => {
      finish(() => {
        resolve(Buffer.concat(chunks));
      });
    };
    const onError = (cause: Error): void => {
      finish(() => {
        reject(new HttpProblem('invalid_request', { detail: 'The body cannot be read', cause }));
      });
    };
    const onClose = (): void => {
      onError(new Error('The connection ended within the body'));
    };
    source.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
  });
}

function tooLarge(limitBytes: number): HttpProblem {
  return new HttpProblem('body_too_large', {
    detail: `The body may have ${String(limitBytes)} bytes; store large data elsewhere and send a reference`,
    headers: { connection: 'close' },
  });
}

/** Ends a connection whose request was not read to its end, without cutting off the answer. */
export function lingerAfterRefusal(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  request.unpipe();
  request.resume();
  response.once('finish', () => {
    const timer = setTimeout(() => request.socket.destroy(), lingerMs);
    request.once('close', () => {
      clearTimeout(timer);
    });
  });
}
