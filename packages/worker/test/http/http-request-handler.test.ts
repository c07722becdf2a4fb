import { once } from 'node:events';
import { waitFor } from '@holdfast/testing';
import { describe, expect, it } from 'vitest';
import type { Ending } from './support/handler-under-test.ts';
import { openTarget } from './support/http-target.ts';

describe('a request', () => {
  it('carries what the payload says', async () => {
    const target = await openTarget();
    await target.call({
      url: `${target.origin}/orders?a=1&b=%20`,
      method: 'PUT',
      headers: { 'X-Api-Key': 'k', Authorization: 'Bearer t' },
      body: { sum: 'größer' },
    });
    expect(target.received).toMatchObject([
      {
        method: 'PUT',
        path: '/orders?a=1&b=%20',
        body: '{"sum":"größer"}',
        headers: {
          'x-api-key': 'k',
          authorization: 'Bearer t',
          'content-type': 'application/json',
          'content-length': '18',
        },
      },
    ]);
  });

  it('says which job and attempt it belongs to, and asks for no compression', async () => {
    const target = await openTarget();
    await target.call({}, { jobId: 'job-7', attempt: 3, executionSeq: 12 });
    expect(target.received[0]?.headers).toMatchObject({
      host: target.origin.slice('http://'.length),
      'idempotency-key': 'job-7',
      'holdfast-attempt': '3',
      'holdfast-fencing-token': '12',
      'user-agent': 'Holdfast/9.9.9',
      'accept-encoding': 'identity',
    });
  });

  it('has the payload’s user agent where it names one', async () => {
    const target = await openTarget();
    await target.call({ headers: { 'User-Agent': 'billing/1' } });
    expect(target.received[0]?.headers['user-agent']).toBe('billing/1');
  });

  it('uses a connection of its own that is closed afterwards', async () => {
    const target = await openTarget();
    await target.call({});
    await target.call({});
    await target.server.allClosed();
    expect(target.server.connectionCount()).toBe(2);
    expect(target.received[0]?.headers.connection).toBe('close');
  });
});

describe('a successful answer', () => {
  it('is kept with its status, its headers and its body, but without secrets', async () => {
    const target = await openTarget((_request, response) => {
      response.writeHead(201, {
        'content-type': 'application/json',
        'x-request-id': 'r1',
        'set-cookie': ['a=1', 'b=2'],
        'www-authenticate': 'Basic',
        authorization: 'Bearer leaked',
      });
      response.end('{"id":1}');
    });
    const ending = await target.call({});
    expect(ending).toMatchObject({
      ok: true,
      result: {
        status: 201,
        headers: { 'content-type': 'application/json', 'x-request-id': 'r1' },
        body: '{"id":1}',
        bodyBytes: 8,
        bodyTruncated: false,
      },
    });
    expect(JSON.stringify(ending)).not.toMatch(/cookie|authenticate|leaked/i);
  });

  it('is kept to 64 kB of its body', async () => {
    const target = await openTarget((_request, response) => response.end('x'.repeat(100_000)));
    expect(await target.call({})).toMatchObject({
      ok: true,
      result: { body: 'x'.repeat(65_536), bodyBytes: 100_000, bodyTruncated: true },
    });
  });

  it('does not keep half a character at the cut', async () => {
    const target = await openTarget((_request, response) => response.end(`x${'é'.repeat(40_000)}`));
    const ending = await target.call({});
    expect(ending).toMatchObject({
      result: { body: `x${'é'.repeat(32_767)}`, bodyTruncated: true },
    });
  });

  it('shows NUL and bytes that are no UTF-8 as visible characters', async () => {
    const target = await openTarget((_request, response) => {
      response.end(Buffer.from([0x61, 0x00, 0xff, 0xed, 0xa0, 0x80, 0x62]));
    });
    const ending = await target.call({});
    expect(ending).toMatchObject({ result: { body: 'a\u2400\ufffd\ufffd\ufffd\ufffdb' } });
  });

  it('stays below the limit of a result when its body is all control characters', async () => {
    const target = await openTarget((_request, response) => response.end('\u0001'.repeat(65_536)));
    const ending = await target.call({});
    expect(ending).toMatchObject({ ok: true, result: { bodyTruncated: true, bodyBytes: 65_536 } });
    expect(JSON.stringify(ending).length).toBeLessThan(200_000);
  });

  it('may be empty', async () => {
    const target = await openTarget((_request, response) => response.writeHead(204).end());
    expect(await target.call({ method: 'DELETE' })).toMatchObject({
      ok: true,
      result: { status: 204, body: '', bodyBytes: 0 },
    });
  });

  it('may have the length of a body that HEAD does not send', async () => {
    const target = await openTarget((_request, response) => {
      response.writeHead(200, { 'content-length': '5000000', 'content-encoding': 'gzip' }).end();
    });
    expect(await target.call({ method: 'HEAD' })).toMatchObject({ ok: true, result: { body: '' } });
  });

  it('keeps a header named __proto__ as a header', async () => {
    const target = await openTarget((_request, response) => {
      response.setHeader('__proto__', 'x');
      response.end('ok');
    });
    const ending = await target.call({});
    if (!ending.ok) throw ending.error;
    expect(Object.getPrototypeOf(ending.result.headers)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('the status decides', () => {
  async function answered(status: number, payload: object = {}): Promise<Ending> {
    const target = await openTarget((_request, response) => response.writeHead(status).end('no'));
    return target.call(payload);
  }

  it.each([200, 201, 202, 204, 299])('%i is success', async (status) => {
    expect(await answered(status)).toMatchObject({ ok: true, result: { status } });
  });

  it.each([408, 425, 429, 500, 502, 503, 504, 599])('%i is retried', async (status) => {
    expect(await answered(status)).toMatchObject({
      ok: false,
      error: { name: 'RetryableError', code: 'http_status', retryAfterMs: undefined },
    });
  });

  it.each([300, 304, 400, 401, 403, 404, 409, 410, 422, 451])('%i is final', async (status) => {
    expect(await answered(status)).toMatchObject({
      ok: false,
      error: {
        name: 'NonRetryableError',
        code: 'http_status',
        message: `The destination answered with status ${String(status)}`,
      },
    });
  });

  it.each([301, 302, 303, 307, 308])(
    '%i is a failure unless redirects are followed',
    async (status) => {
      expect(await answered(status)).toMatchObject({
        ok: false,
        error: { name: 'NonRetryableError', code: 'redirect_refused' },
      });
    },
  );

  it('an expected status is success, and then every other is not', async () => {
    expect(await answered(404, { expectStatus: [200, 404] })).toMatchObject({ ok: true });
    expect(await answered(503, { expectStatus: 503 })).toMatchObject({ ok: true });
    expect(await answered(302, { expectStatus: 302 })).toMatchObject({ ok: true });
    expect(await answered(201, { expectStatus: 200 })).toMatchObject({
      ok: false,
      error: { name: 'NonRetryableError', code: 'http_status' },
    });
  });

  it.each([
    ['30', 30_000],
    ['3600', 3_600_000],
    ['Thu, 01 Jan 2026 00:10:00 GMT', 600_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 3_600_000],
    ['-5', undefined],
    ['abc', undefined],
    ['0', undefined],
  ])('Retry-After: %s gives %s', async (value, retryAfterMs) => {
    const target = await openTarget((_request, response) => {
      response.writeHead(503, { 'retry-after': value }).end();
    });
    expect(await target.call({})).toMatchObject({
      ok: false,
      error: { name: 'RetryableError', retryAfterMs },
    });
  });

  it('the beginning of a failed answer goes to the job’s log', async () => {
    const target = await openTarget((_request, response) => {
      response.writeHead(422).end(`{"error":"no \u0000 such ${'x'.repeat(5_000)}`);
    });
    const lines: unknown[] = [];
    const ignore = () => undefined;
    const warn = (...line: readonly unknown[]) => void lines.push(line);
    await target.call({}, { log: { debug: ignore, info: ignore, warn, error: ignore } });
    const body = `{"error":"no \u2400 such `;
    expect(lines).toEqual([
      [
        'The destination answered with status 422',
        { body: body + 'x'.repeat(2_048 - body.length) },
      ],
    ]);
  });

  it('Retry-After on a final status changes nothing', async () => {
    const target = await openTarget((_request, response) => {
      response.writeHead(404, { 'retry-after': '30' }).end();
    });
    expect(await target.call({})).toMatchObject({ error: { name: 'NonRetryableError' } });
  });
});

describe('the job’s own abort', () => {
  it('ends the request and is reported as it is', async () => {
    const target = await openTarget(() => undefined);
    const abort = new AbortController();
    const reason = new Error('the worker drains');
    const running = target.call({}, { signal: abort.signal });
    await waitFor('the target has the request', () => target.received.length === 1);
    abort.abort(reason);
    expect(await running).toEqual({ ok: false, error: reason });
    await target.server.allClosed();
  });

  it('before the start sends nothing', async () => {
    const target = await openTarget();
    const reason = new Error('cancelled');
    expect(await target.call({}, { signal: AbortSignal.abort(reason) })).toEqual({
      ok: false,
      error: reason,
    });
    expect(target.server.connectionCount()).toBe(0);
  });
});

it('an answer after the deadline is not counted, and the next attempt has the same idempotency key', async () => {
  const target = await openTarget((request, response) => {
    if (request.headers['holdfast-attempt'] === '2') return response.end('done');
    // Answers only when the caller has already given up.
    void once(request.socket, 'close').then(() => response.end('too late'));
    return undefined;
  });
  // Long enough for the request to arrive in it on any machine.
  const first = await target.call({ timeout: '5s' }, { jobId: 'job-7', attempt: 1 });
  expect(first).toMatchObject({
    ok: false,
    error: { name: 'RetryableError', code: 'deadline_exceeded' },
  });
  const second = await target.call({}, { jobId: 'job-7', attempt: 2, executionSeq: 2 });
  expect(second).toMatchObject({ ok: true, result: { body: 'done' } });
  expect(target.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
    'job-7',
    'job-7',
  ]);
  expect(target.received.map(({ headers }) => headers['holdfast-fencing-token'])).toEqual([
    '1',
    '2',
  ]);
});
