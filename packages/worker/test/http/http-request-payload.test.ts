import { describe, expect, it } from 'vitest';
import { readHttpRequest } from '../../src/http/http-request-payload.ts';
import type { HttpRequest } from '../../src/http/http-request-payload.ts';
import { makeHandler } from './support/handler-under-test.ts';

const url = 'https://api.example.com/orders';

function read(payload: unknown): HttpRequest {
  const reading = readHttpRequest(payload);
  if (!reading.ok) throw new Error(reading.problems.join('; '));
  return reading.request;
}

function problemsOf(payload: unknown): readonly string[] {
  const reading = readHttpRequest(payload);
  return reading.ok ? [] : reading.problems;
}

describe('a payload', () => {
  it('with only a URL is a POST without a body, 30 seconds long, that follows no redirect', () => {
    expect(read({ url })).toMatchObject({
      method: 'POST',
      headers: {},
      body: undefined,
      timeoutMs: 30_000,
      expectStatus: undefined,
      followRedirects: undefined,
    });
  });

  it('with null in a field is as without that field', () => {
    const fields = ['method', 'headers', 'body', 'timeout', 'expectStatus', 'followRedirects'];
    const nulls = Object.fromEntries(fields.map((field) => [field, null]));
    expect(read({ url, ...nulls })).toEqual(read({ url }));
  });

  it.each([
    [{ id: 7 }, '{"id":7}', 'application/json'],
    [[1, null], '[1,null]', 'application/json'],
    [false, 'false', 'application/json'],
    [0, '0', 'application/json'],
    ['a=1', 'a=1', 'text/plain; charset=utf-8'],
    ['', '', 'text/plain; charset=utf-8'],
  ])('body %j is sent as %j with content type %s', (body, sent, contentType) => {
    const request = read({ url, body });
    expect(request.body).toBe(sent);
    expect(request.headers).toEqual({ 'content-type': contentType });
  });

  it('keeps the content type that it names', () => {
    const headers = { 'Content-Type': 'application/vnd.api+json' };
    expect(read({ url, body: {}, headers }).headers).toEqual(headers);
  });

  it.each([
    ['250ms', 250],
    ['2m', 120_000],
    ['PT1H', 3_600_000],
  ])('timeout %s is %i ms', (timeout, ms) => {
    expect(read({ url, timeout }).timeoutMs).toBe(ms);
  });

  it.each([
    [true, { maxHops: 3, resendBody: false }],
    [{}, { maxHops: 3, resendBody: false }],
    [
      { maxHops: 1, resendBody: true },
      { maxHops: 1, resendBody: true },
    ],
    [false, undefined],
  ])('followRedirects %j is understood', (followRedirects, rules) => {
    expect(read({ url, followRedirects }).followRedirects).toEqual(rules);
  });

  it('takes one expected status or several', () => {
    expect(read({ url, expectStatus: 302 }).expectStatus).toEqual([302]);
    expect(read({ url, expectStatus: [200, 404] }).expectStatus).toEqual([200, 404]);
  });

  it('drops the fragment of its URL', () => {
    expect(read({ url: `${url}#secret` }).url.href).toBe(url);
  });
});

describe('a bad payload', () => {
  it.each([undefined, null, 'text', 7, [], [url]])('%j is refused', (payload) => {
    expect(problemsOf(payload)).toEqual(['payload: must be an object']);
  });

  it.each([
    [{}, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: '' }, 'url'],
    [{ url: 'orders' }, 'url'],
    [{ url, method: 'get' }, 'method'],
    [{ url, method: 'CONNECT' }, 'method'],
    [{ url, method: 'TRACE' }, 'method'],
    [{ url, method: 'GET /x HTTP/1.1\r\n' }, 'method'],
    [{ url, method: 'GET', body: {} }, 'body'],
    [{ url, headers: [] }, 'headers'],
    [{ url, headers: 'a: b' }, 'headers'],
    [{ url, timeout: 30 }, 'timeout'],
    [{ url, timeout: '0s' }, 'timeout'],
    [{ url, timeout: '2h' }, 'timeout'],
    [{ url, timeout: '-1s' }, 'timeout'],
    [{ url, timeout: 'soon' }, 'timeout'],
    [{ url, expectStatus: 99 }, 'expectStatus'],
    [{ url, expectStatus: 600 }, 'expectStatus'],
    [{ url, expectStatus: '200' }, 'expectStatus'],
    [{ url, expectStatus: [] }, 'expectStatus'],
    [{ url, expectStatus: [200, 1.5] }, 'expectStatus'],
    [{ url, followRedirects: 'yes' }, 'followRedirects'],
    [{ url, followRedirects: 3 }, 'followRedirects'],
    [{ url, followRedirects: { maxHops: 4 } }, 'followRedirects'],
    [{ url, followRedirects: { maxHops: 0 } }, 'followRedirects'],
    [{ url, followRedirects: { resendBody: 1 } }, 'followRedirects'],
    [{ url, followRedirects: { hops: 1 } }, 'followRedirects'],
    [{ url, proxy: 'http://127.0.0.1' }, 'payload'],
    [{ url, constructor: {} }, 'payload'],
    [JSON.parse(`{"url":"${url}","__proto__":{"method":"GET"}}`), 'payload'],
  ])('%j names the field %s', (payload: unknown, field) => {
    expect(problemsOf(payload).map((problem) => problem.split(':')[0])).toEqual([field]);
  });

  it('lists every problem at once and repeats no value', () => {
    const problems = problemsOf({
      url: 'nowhere-secret',
      method: 'secret',
      timeout: 'secret',
      headers: { 'X-Token': 'secret\u0000' },
    });
    expect(problems).toHaveLength(4);
    expect(problems.join()).not.toContain('secret');
  });

  it('sends the job to the dead letters without a request', async () => {
    const ending = await makeHandler({}).run({ url, method: 'BREW' });
    expect(ending).toMatchObject({
      ok: false,
      error: { name: 'NonRetryableError', code: 'http_request_invalid' },
    });
  });
});

describe('headers', () => {
  it.each([
    'Host',
    'host',
    'HOST',
    'Connection',
    'Transfer-Encoding',
    'Content-Length',
    'TE',
    'Trailer',
    'Upgrade',
    'Expect',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'proxy-anything',
    'Forwarded',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Real-IP',
    'Via',
    'Cookie',
    'Accept-Encoding',
    'Idempotency-Key',
    'Holdfast-Attempt',
    'Holdfast-Fencing-Token',
  ])('may not set %s', (name) => {
    expect(problemsOf({ url, headers: { [name]: 'x' } })).toEqual([
      `headers."${name}": is set by Holdfast or by the connection and must be left out`,
    ]);
  });

  it.each(['', ' ', 'a b', 'a:b', 'a\r\nHost', 'Hóst', 'a\u0000', '(x)', 'a/b', ' Host', 'Host '])(
    'may not be named %j',
    (name) => {
      expect(problemsOf({ url, headers: { [name]: 'x' } })).toHaveLength(1);
    },
  );

  it.each([
    'a\r\nHost: evil',
    'a\nb',
    'a\rb',
    'a\u0000b',
    'a\u007fb',
    'caf\u00e9',
    '\u{1f600}',
    '\u2028',
    7,
    null,
    true,
    ['a', 'b'],
    {},
  ])('may not have the value %j', (value) => {
    expect(problemsOf({ url, headers: { 'X-Value': value } })).toHaveLength(1);
  });

  it('may be 64, not 200', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${String(index)}`, 'v']));
    expect(problemsOf({ url, headers: many(64) })).toEqual([]);
    expect(problemsOf({ url, headers: many(200) })).toEqual(['headers: has more than 64 entries']);
  });

  it('may be 8 kB together', () => {
    expect(problemsOf({ url, headers: { 'x-long': 'v'.repeat(8_000) } })).toEqual([]);
    expect(problemsOf({ url, headers: { 'x-long': 'v'.repeat(8_192) } })).toHaveLength(1);
  });

  it('may not have one name in two spellings', () => {
    expect(problemsOf({ url, headers: { 'X-A': '1', 'x-a': '2' } })).toEqual([
      'headers: has the same name twice',
    ]);
  });

  it('may not reach a prototype', () => {
    const headers: unknown = JSON.parse('{"__proto__":"x"}');
    expect(problemsOf({ url, headers })).toEqual(['headers."__proto__": is not allowed']);
  });

  it('may carry what an API asks for', () => {
    const headers = { Authorization: 'Bearer abc', 'X-Api-Key': 'k', Accept: 'application/json' };
    expect(read({ url, headers }).headers).toEqual(headers);
  });
});
