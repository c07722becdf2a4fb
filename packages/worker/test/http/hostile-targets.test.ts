import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeHandler } from './support/handler-under-test.ts';
import type { Ending } from './support/handler-under-test.ts';
import { serveSockets } from './support/loopback-server.ts';

/** For targets that are to be given up; what all others do must not depend on how fast this machine is. */
const shortTimeout = { timeout: '250ms' };
const megabyte = 1_048_576;

/** Calls a server that does with each request's socket what it likes, and waits until its socket is free again. */
async function callTarget(
  onRequest: (socket: Socket) => void,
  payload: object = {},
): Promise<Ending> {
  const server = await serveSockets((socket) => {
    socket.once('data', () => {
      onRequest(socket);
    });
  });
  const ending = await makeHandler({
    allowHosts: `http://127.0.0.1:${String(server.port)}`,
    allowCidrs: '127.0.0.1/32',
  }).run({ url: `http://127.0.0.1:${String(server.port)}/`, ...payload });
  await server.allClosed();
  return ending;
}

/** Writes until the other side has had enough; tells how many bytes that took. */
function writeForever(socket: Socket, chunk: Buffer | string): () => number {
  let written = 0;
  const write = () => {
    while (!socket.destroyed) {
      written += chunk.length;
      if (!socket.write(chunk)) return;
    }
  };
  socket.on('drain', write);
  write();
  return () => written;
}

function answerWith(body: Buffer, headers: string) {
  return (socket: Socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${String(body.length)}\r\n${headers}\r\n\r\n`);
    socket.write(body);
  };
}

function expectFailure(ending: Ending, name: string, code: string): void {
  expect(ending).toMatchObject({ ok: false, error: { name, code } });
}

describe('a target that takes its time is given up at the deadline', () => {
  it('when it never answers', async () => {
    expectFailure(
      await callTarget(() => undefined, shortTimeout),
      'RetryableError',
      'deadline_exceeded',
    );
  });

  it('when it sends headers byte by byte', async () => {
    const ending = await callTarget(
      (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx-slow: ', 'y'),
      shortTimeout,
    );
    expectFailure(ending, 'RetryableError', 'deadline_exceeded');
  });

  it('when it sends its body byte by byte', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n';
    const ending = await callTarget((socket) => drip(socket, head, 'y'), shortTimeout);
    expectFailure(ending, 'RetryableError', 'deadline_exceeded');
  });

  it('when it sends interim answers without end', async () => {
    const ending = await callTarget(
      (socket) => drip(socket, '', 'HTTP/1.1 102 Processing\r\n\r\n'),
      shortTimeout,
    );
    expectFailure(ending, 'RetryableError', 'deadline_exceeded');
  });

  it('when a compressed body stalls', async () => {
    const zipped = gzipSync('x'.repeat(10_000));
    const ending = await callTarget((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9999\r\n\r\n');
      socket.write(zipped.subarray(0, 20));
    }, shortTimeout);
    expectFailure(ending, 'RetryableError', 'deadline_exceeded');
  });

  it('but a failing status is what counts even if its body never ends', async () => {
    const ending = await callTarget(
      (socket) =>
        drip(socket, 'HTTP/1.1 503 No\r\nretry-after: 7\r\ncontent-length: 1000\r\n\r\n', 'y'),
      // Long enough for the status to arrive in it on any machine.
      { timeout: '5s' },
    );
    expect(ending).toMatchObject({
      ok: false,
      error: { name: 'RetryableError', code: 'http_status', retryAfterMs: 7_000 },
    });
  });

  it('when it redirects without end, by the number of hops', async () => {
    const ending = await callTarget(
      (socket) => socket.end('HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'),
      { method: 'GET', followRedirects: true },
    );
    expectFailure(ending, 'NonRetryableError', 'redirect_refused');
  });

  it('when its name server never answers', async () => {
    const handler = makeHandler({
      allowHosts: 'slow.test',
      lookup: () => new Promise(() => undefined),
    });
    const ending = await handler.run({ url: 'https://slow.test/', ...shortTimeout });
    expectFailure(ending, 'RetryableError', 'deadline_exceeded');
  });
});

describe('a target that sends too much is cut off', () => {
  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n'],
    ['without a length', 'HTTP/1.1 200 OK\r\n\r\n'],
  ])('in its body %s', async (_how, head) => {
    let written: () => number = () => 0;
    const ending = await callTarget((socket) => {
      socket.write(head);
      written = writeForever(socket, Buffer.alloc(65_536, 'x'));
    });
    expectFailure(ending, 'NonRetryableError', 'response_too_large');
    // What the buffers of both sockets hold comes on top of the cap.
    expect(written()).toBeLessThan(32 * megabyte);
  });

  it('in the body of a redirect or a failure, which is not read to its end', async () => {
    for (const [head, code] of [
      ['HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n', 'redirect_refused'],
      ['HTTP/1.1 404 Not Found\r\n\r\n', 'http_status'],
    ] as const) {
      const ending = await callTarget((socket) => {
        socket.write(head);
        writeForever(socket, Buffer.alloc(65_536, 'x'));
      });
      expectFailure(ending, 'NonRetryableError', code);
    }
  });

  it('in chunks', async () => {
    const ending = await callTarget((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      writeForever(socket, `8000\r\n${'x'.repeat(0x8000)}\r\n`);
    });
    expectFailure(ending, 'NonRetryableError', 'response_too_large');
  });

  it('in one header and in many', async () => {
    for (const header of ['x'.repeat(1024), `x-a: ${'y'.repeat(100)}\r\n`]) {
      const ending = await callTarget((socket) => {
        socket.write('HTTP/1.1 200 OK\r\nx-long: ');
        writeForever(socket, header);
      });
      expectFailure(ending, 'NonRetryableError', 'response_too_large');
    }
  });

  it('after decompression', async () => {
    const bomb = Buffer.alloc(50 * megabyte);
    const packed = [
      ['gzip', gzipSync(bomb)],
      ['deflate', deflateSync(bomb)],
      ['br', brotliCompressSync(Buffer.alloc(8 * megabyte))],
    ] as const;
    for (const [coding, body] of packed) {
      expect(body.length).toBeLessThan(megabyte);
      const ending = await callTarget(answerWith(body, `content-encoding: ${coding}`));
      expectFailure(ending, 'NonRetryableError', 'response_too_large');
    }
  });

  it('but a body of exactly the cap is taken', async () => {
    const ending = await callTarget(answerWith(Buffer.alloc(megabyte, 'x'), 'x-a: b'));
    expect(ending).toMatchObject({
      ok: true,
      result: { bodyBytes: megabyte, bodyTruncated: true },
    });
  });
});

describe('a compressed body that nobody asked for', () => {
  const text = 'hello '.repeat(100);

  it.each([
    ['gzip', gzipSync(text)],
    ['X-GZIP', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('in %s is read', async (coding, body) => {
    const ending = await callTarget(answerWith(body, `content-encoding: ${coding}`));
    expect(ending).toMatchObject({ ok: true, result: { body: text, bodyBytes: text.length } });
  });

  it.each([
    'gzip, gzip',
    'gzip, br',
    'zstd',
    'compress',
    'gzip,gzip,gzip,gzip',
    'br, gzip, identity',
  ])('in %s is refused', async (coding) => {
    const ending = await callTarget(answerWith(gzipSync(text), `content-encoding: ${coding}`));
    expectFailure(ending, 'NonRetryableError', 'response_encoding_refused');
  });

  it('as two headers is a chain too', async () => {
    const twice = 'content-encoding: gzip\r\ncontent-encoding: gzip';
    const ending = await callTarget(answerWith(gzipSync(gzipSync(text)), twice));
    expectFailure(ending, 'NonRetryableError', 'response_encoding_refused');
  });

  it.each([
    ['gzip', Buffer.from('this is not gzip')],
    ['gzip', gzipSync(text).subarray(0, 20)],
    ['deflate', Buffer.from('this is not deflate')],
    ['br', Buffer.from('this is not brotli, nor anything like it')],
  ])('in broken %s is invalid', async (coding, body) => {
    const ending = await callTarget(answerWith(body, `content-encoding: ${coding}`));
    expectFailure(ending, 'RetryableError', 'response_invalid');
  });
});

describe('a target that breaks off is retried', () => {
  it.each([
    ['before a byte', ''],
    ['in its headers', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['in its body', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'],
    ['in a chunk', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n64\r\nhalf'],
    ['between chunks', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
  ])('%s', async (_where, sent) => {
    const reset = await callTarget((socket) => {
      if (sent === '') socket.resetAndDestroy();
      else socket.write(sent, () => setImmediate(() => socket.resetAndDestroy()));
    });
    expectFailure(reset, 'RetryableError', 'connection_lost');
    const ended = await callTarget((socket) => socket.end(sent));
    expectFailure(ended, 'RetryableError', 'connection_lost');
  });
});

it('a broken connection is not opened again within the attempt', async () => {
  let connections = 0;
  const ending = await callTarget(
    (socket) => {
      connections += 1;
      socket.destroy();
    },
    { method: 'GET' },
  );
  expectFailure(ending, 'RetryableError', 'connection_lost');
  expect(connections).toBe(1);
});

describe('a target that does not speak HTTP is invalid', () => {
  it.each([
    ['HTTP/0.9', '<html>hello</html>'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['binary junk', '\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007'],
    ['a bad version', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['a bad status', 'HTTP/1.1 abc OK\r\n\r\n'],
    ['a header without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok'],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nok'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['NUL in a header', 'HTTP/1.1 200 OK\r\nx-a: a\u0000b\r\n\r\n'],
    ['a bad chunk size', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n'],
  ])('with %s', async (_what, sent) => {
    const ending = await callTarget((socket) => socket.end(Buffer.from(sent, 'latin1')));
    expectFailure(ending, 'RetryableError', 'response_invalid');
  });

  it('with more bytes than it announced, and the rest is not read as an answer', async () => {
    const ending = await callTarget((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n'),
    );
    expect(ending).toMatchObject({ ok: true, result: { body: 'ok' } });
  });
});

/** Sends the head and then the same few bytes again and again, slowly, until the other side goes away. */
function drip(socket: Socket, head: string, bytes: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(bytes), 20);
  socket.once('close', () => {
    clearInterval(timer);
  });
}
