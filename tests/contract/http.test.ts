import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { routes } from '@holdfast/contract';
import { errorCodes } from '@holdfast/domain';
import { waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
let webRoot: string;
beforeAll(async () => {
  webRoot = await mkdtemp(join(tmpdir(), 'holdfast-web-'));
  await mkdir(join(webRoot, 'assets'));
  await writeFile(join(webRoot, 'index.html'), '<!doctype html><title>Dashboard</title>');
  await writeFile(join(webRoot, 'assets', 'app-1a2b.js'), 'export {};');
  api = await startTestApi({ webRoot, metricsToken: 'a token for metrics' });
});
afterAll(async () => {
  await api.stop();
  await rm(webRoot, { recursive: true });
});

/** Sends bytes as they are, and answers everything that comes back. */
async function raw(request: string): Promise<string> {
  const socket = connect(api.port, '127.0.0.1');
  let answer = '';
  let ended = false;
  socket.on('data', (data) => (answer += data.toString('latin1')));
  socket.on('error', () => undefined).on('close', () => (ended = true));
  socket.write(request, 'latin1');
  await waitFor('the server closes the connection', () => ended);
  return answer;
}

const request = (line: string, headers: readonly string[], body = ''): string =>
  [line, ...headers, 'Connection: close', '', body].join('\r\n');

describe('headers that two parties could read in two ways', () => {
  const bearer = () => `Authorization: Bearer ${api.ownerToken}`;
  const path = '/api/v1/projects/default/jobs';
  const json = 'Content-Type: application/json';

  it('are refused', async () => {
    for (const [what, text, status] of [
      ['no host', request(`GET ${path} HTTP/1.1`, [bearer()]), 400],
      ['two hosts', request(`GET ${path} HTTP/1.1`, ['Host: a', 'Host: b', bearer()]), 400],
      ['two credentials', request(`GET ${path} HTTP/1.1`, ['Host: a', bearer(), bearer()]), 400],
      [
        'a length and chunks',
        request(
          `POST ${path} HTTP/1.1`,
          ['Host: a', bearer(), json, 'Content-Length: 5', 'Transfer-Encoding: chunked'],
          '0\r\n\r\nGET /',
        ),
        400,
      ],
      [
        'two lengths',
        request(
          `POST ${path} HTTP/1.1`,
          ['Host: a', bearer(), json, 'Content-Length: 2', 'Content-Length: 3'],
          '{} ',
        ),
        400,
      ],
      ['an absolute target', request('GET http://evil.example/livez HTTP/1.1', ['Host: a']), 400],
      ['an authority', request('CONNECT evil.example:443 HTTP/1.1', ['Host: a']), 0],
      [
        '20 kB of headers',
        request(`GET ${path} HTTP/1.1`, ['Host: a', `X-A: ${'a'.repeat(20_000)}`]),
        431,
      ],
      ['a bare line feed', `GET ${path} HTTP/1.1\r\nHost: a\r\nX-A: b\nX-B : c\r\n\r\n`, 400],
      ['no HTTP', 'hello\r\n\r\n', 400],
    ] as const) {
      const answer = await raw(text);
      const [, code = '0'] = /^HTTP\/1\.1 (\d+)/.exec(answer) ?? [];
      expect([what, Number(code)]).toEqual([what, status]);
    }
  });

  it('cannot change the method', async () => {
    const { id } = await api.factory.queued();
    for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
      const sent = await api.inProject('GET', `/jobs/${id}`, { headers: { [name]: 'DELETE' } });
      expect(sent.json['status']).toBe('queued');
    }
    expect((await api.inProject('POST', `/jobs/${id}?_method=PATCH`, { body: {} })).status).toBe(
      405,
    );
  });

  it('cannot be split by a caller', async () => {
    const sent = await api.send('GET', '/livez', { headers: { 'x-request-id': 'a b' } });
    expect(sent.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('every answer', () => {
  it('carries the request id, the caller’s own when it is a plain one', async () => {
    const own = await api.send('GET', '/livez', { headers: { 'x-request-id': 'abc-123' } });
    expect(own.headers.get('x-request-id')).toBe('abc-123');
    const failed = await api.inProject('GET', '/jobs?limit=0');
    expect(failed.json.requestId).toBe(failed.headers.get('x-request-id'));
  });

  it.each(['/', '/api/v1/projects', '/docs', '/nothing', '/livez'])(
    'tells browsers to run nothing but our own files: %s',
    async (path) => {
      const { headers } = await api.send('GET', path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("base-uri 'none'");
      expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|https?:|\*/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );

  it('of the API is kept by nobody', async () => {
    expect((await api.inProject('GET', '/jobs')).headers.get('cache-control')).toBe('no-store');
  });

  it('that is an error is problem details', async () => {
    const sent = await api.send('GET', '/api/v1/nothing');
    expect(sent.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(sent.json).toMatchObject({
      type: '/docs/errors#not_found',
      title: errorCodes.not_found,
      status: 404,
      code: 'not_found',
    });
  });
});

describe('methods', () => {
  it('that a path does not have are 405 with those that it has', async () => {
    const sent = await api.inProject('DELETE', '/jobs');
    expect([sent.status, sent.json.code]).toEqual([405, 'method_not_allowed']);
    expect(sent.headers.get('allow')).toBe('POST, GET');
  });
});

describe('health', () => {
  it('is told to everybody', async () => {
    expect((await api.send('GET', '/livez', { token: null })).json).toEqual({ status: 'ok' });
    const ready = await api.send('GET', '/readyz', { token: null });
    expect([ready.status, ready.json['status']]).toEqual([200, 'ok']);
  });

  it('says what the database’s acknowledgements survive, to those who are signed in', async () => {
    expect((await api.send('GET', '/status', { token: null })).status).toBe(401);
    const status = await api.client.getStatus();
    expect(status.database.version).toMatch(/^17/);
    // The servers of tests do not wait for the disk.
    expect(status.database.durable).toBe(false);
    expect(status.database.warnings[0]).toMatch(/fsync/);
    expect(Math.abs(status.clockSkewMs)).toBeLessThan(5_000);
  });

  it('gives figures to Prometheus, with the token that was set', async () => {
    expect((await api.send('GET', '/metrics', { token: null })).status).toBe(401);
    await api.factory.queued({ queue: 'measured' });
    await api.send('GET', '/livez');
    const sent = await api.send('GET', '/metrics', { token: 'a token for metrics' });
    expect(sent.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(sent.text).toContain('holdfast_queue_jobs{queue="measured",status="queued"} 1');
    expect(sent.text).toMatch(
      /holdfast_http_request_duration_seconds_count\{[^}]*route="getLivez"/,
    );
  });
});

describe('the contract', () => {
  it('is served as OpenAPI with every route', async () => {
    const document = await api.client.getOpenApi();
    expect(document['openapi']).toMatch(/^3\.1/);
    const operations = Object.values(document['paths'] as Record<string, Record<string, unknown>>)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => (operation as { operationId: string }).operationId);
    expect(operations.sort()).toEqual(Object.keys(routes).sort());
  });

  it('is a page without scripts', async () => {
    const page = await api.send('GET', '/docs', { token: null });
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(page.text).not.toMatch(/<script|onload=|https?:\/\//);
    for (const { path } of Object.values(routes)) expect(page.text).toContain(path);
    expect((await api.send('GET', '/docs/style.css')).status).toBe(200);
  });

  it('explains every error code', async () => {
    const page = await api.send('GET', '/docs/errors', { token: null });
    for (const code of Object.keys(errorCodes)) expect(page.text).toContain(`id="${code}"`);
  });
});

describe('the dashboard', () => {
  it.each(['/', '/jobs', '/jobs/019a2c4e', '/queues/a.b', '/statusboard'])(
    'has its page at %s',
    async (path) => {
      const sent = await api.send('GET', path, { token: null, headers: { accept: 'text/html' } });
      expect(sent.text).toContain('Dashboard');
      expect(sent.headers.get('cache-control')).toBe('no-cache');
    },
  );

  it('has files that never change, and no listing', async () => {
    const file = await api.send('GET', '/assets/app-1a2b.js');
    expect(file.headers.get('cache-control')).toMatch(/immutable/);
    expect(file.headers.get('content-type')).toMatch(/javascript/);
    for (const path of ['/assets/', '/assets/none.js', '/assets/..%2f..%2fpackage.json', '/.env']) {
      const { status, text } = await api.send('GET', path);
      expect([path, status === 404 || text.includes('Dashboard')]).toEqual([path, true]);
    }
  });

  it('is not in the way of the API', async () => {
    const sent = await api.send('GET', '/api/v1/nothing', { headers: { accept: 'text/html' } });
    expect(sent.status).toBe(404);
  });
});

describe('rate limits', () => {
  it('answer 429 and when to go on, for each caller alone', async () => {
    const limited = await startTestApi({ requestsPerMinute: 3 });
    try {
      const statuses: number[] = [];
      for (let at = 0; at < 4; at += 1)
        statuses.push((await limited.inProject('GET', '/jobs')).status);
      expect(statuses).toEqual([200, 200, 200, 429]);
      const sent = await limited.inProject('GET', '/jobs');
      expect(sent.json.code).toBe('rate_limited');
      expect(Number(sent.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(sent.headers.get('ratelimit')).toMatch(/r=0/);
      expect((await limited.inProject('GET', '/jobs', { token: 'other' })).status).toBe(401);
      expect((await limited.send('GET', '/livez')).status).toBe(200);
    } finally {
      await limited.stop();
    }
  });
});
