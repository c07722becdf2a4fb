import { describe, expect, it } from 'vitest';
import { openTarget } from './support/http-target.ts';

describe('redirects that are followed', () => {
  /** Answers the first request with the redirect and every later one with 200. */
  async function redirecting(status: number, location: string | undefined) {
    let answers = 0;
    const target = await openTarget((_request, response) => {
      answers += 1;
      if (answers > 1) return response.end('there');
      const to = location?.replace('ELSEWHERE', target.elsewhere);
      return response.writeHead(status, to === undefined ? {} : { location: to }).end();
    });
    return target;
  }
  const headers = { Authorization: 'Bearer t', 'X-Api-Key': 'k', Accept: 'text/html' };

  it.each([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [301, 'PUT', 'PUT', '{}'],
    [307, 'POST', 'POST', '{}'],
    [308, 'PATCH', 'PATCH', '{}'],
  ])('%i after %s within the origin becomes %s', async (status, method, next, body) => {
    const target = await redirecting(status, '/next');
    const payload = { method, headers, body: {}, followRedirects: true };
    expect(await target.call(payload)).toMatchObject({ ok: true, result: { body: 'there' } });
    const [, second] = target.received;
    expect(second).toMatchObject({ method: next, path: '/next', body });
    expect(second?.headers).toMatchObject({ authorization: 'Bearer t', 'x-api-key': 'k' });
    expect(second?.headers['content-type']).toBe(body === '' ? undefined : 'application/json');
  });

  it.each([301, 302, 303, 307, 308])('%i to another origin loses the headers', async (status) => {
    const target = await redirecting(status, 'ELSEWHERE/next');
    const payload = { method: 'GET', headers, followRedirects: true };
    expect(await target.call(payload, { jobId: 'job-7' })).toMatchObject({ ok: true });
    const second = target.received[1]?.headers;
    expect(second).toMatchObject({ accept: 'text/html', 'idempotency-key': 'job-7' });
    expect(second).not.toHaveProperty('authorization');
    expect(second).not.toHaveProperty('x-api-key');
  });

  it.each([307, 308])('%i does not take a body to another origin', async (status) => {
    const target = await redirecting(status, 'ELSEWHERE/next');
    expect(await target.call({ body: { secret: 1 }, followRedirects: true })).toMatchObject({
      ok: false,
      error: { name: 'NonRetryableError', code: 'redirect_refused' },
    });
    expect(target.received).toHaveLength(1);
  });

  it.each([307, 308])(
    '%i takes a body to another origin where that is asked for',
    async (status) => {
      const target = await redirecting(status, 'ELSEWHERE/next');
      const payload = { body: { a: 1 }, headers, followRedirects: { resendBody: true } };
      expect(await target.call(payload)).toMatchObject({ ok: true });
      expect(target.received[1]).toMatchObject({
        method: 'POST',
        body: '{"a":1}',
        headers: { 'content-type': 'application/json' },
      });
      expect(target.received[1]?.headers).not.toHaveProperty('authorization');
    },
  );

  it('headers that were lost on the way do not come back with the first origin', async () => {
    const target = await openTarget((request, response) => {
      const next = request.url === '/' ? `${target.elsewhere}/b` : `${target.origin}/c`;
      if (request.url === '/c') return response.end();
      return response.writeHead(302, { location: next }).end();
    });
    await target.call({ method: 'GET', headers, followRedirects: true });
    expect(target.received.map(({ path }) => path)).toEqual(['/', '/b', '/c']);
    expect(target.received[2]?.headers).not.toHaveProperty('authorization');
  });

  it.each([undefined, 'http://', 'http://a b/', 'https://['])(
    'to %s are refused',
    async (location) => {
      const target = await redirecting(302, location);
      const ending = await target.call({ method: 'GET', followRedirects: true });
      expect(ending).toMatchObject({ ok: false, error: { name: 'NonRetryableError' } });
      expect(target.received).toHaveLength(1);
    },
  );

  it.each([
    [true, 4],
    [{ maxHops: 1 }, 2],
  ])('end after the allowed hops: %j makes %i requests', async (followRedirects, requests) => {
    const target = await openTarget((_request, response) => {
      response.writeHead(302, { location: '/' }).end();
    });
    expect(await target.call({ method: 'GET', followRedirects })).toMatchObject({
      ok: false,
      error: { code: 'redirect_refused' },
    });
    expect(target.received).toHaveLength(requests);
  });
});
