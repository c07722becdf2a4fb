import { describe, expect, it } from 'vitest';
import { makeAuthority } from './support/certificates.ts';
import { everyNameIs, makeHandler } from './support/handler-under-test.ts';
import type { Ending, Surroundings } from './support/handler-under-test.ts';
import { serveSockets, serveTls } from './support/loopback-server.ts';
import type { LoopbackServer } from './support/loopback-server.ts';

describe('TLS', () => {
  const authority = makeAuthority();
  const day = 86_400_000;

  it('is spoken with a name that the certificate has', async () => {
    const server = await serveTls(authority.issue({ name: 'target.test' }));
    const ending = await callTls(server, {}, { trustedCertificates: [authority.cert] });
    expect(ending).toMatchObject({ ok: true, result: { body: 'ok' } });
    await server.allClosed();
  });

  it('is spoken with an address that the certificate has', async () => {
    const server = await serveTls(authority.issue({ name: '127.0.0.1' }));
    const port = String(server.port);
    const handler = makeHandler({
      allowHosts: `127.0.0.1:${port}`,
      allowCidrs: '127.0.0.1/32',
      trustedCertificates: [authority.cert],
    });
    expect(await handler.run({ url: `https://127.0.0.1:${port}/` })).toMatchObject({ ok: true });
  });

  it.each([
    ['an unknown authority', () => makeAuthority().issue({ name: 'target.test' })],
    ['a certificate signed by itself', () => makeAuthority()],
    ['another host’s name', () => authority.issue({ name: 'other.test' })],
    ['an address instead of the name', () => authority.issue({ name: '127.0.0.1' })],
    [
      'a certificate that ran out',
      () =>
        authority.issue({
          name: 'target.test',
          notBefore: new Date(Date.now() - 2 * day),
          notAfter: new Date(Date.now() - day),
        }),
    ],
    [
      'a certificate of the future',
      () =>
        authority.issue({
          name: 'target.test',
          notBefore: new Date(Date.now() + day),
          notAfter: new Date(Date.now() + 2 * day),
        }),
    ],
  ])('with %s fails and is retried', async (_what, identity) => {
    const { key, cert } = identity();
    const server = await serveTls({ key, cert });
    const ending = await callTls(server, {}, { trustedCertificates: [authority.cert] });
    expectFailure(ending, 'RetryableError', 'tls_failed');
    await server.allClosed();
  });

  it('older than 1.2 fails', async () => {
    const server = await serveTls({
      ...authority.issue({ name: 'target.test' }),
      minVersion: 'TLSv1',
      // Without this OpenSSL itself no longer offers what is to be refused.
      ciphers: 'DEFAULT@SECLEVEL=0',
      maxVersion: 'TLSv1.1',
    });
    const ending = await callTls(server, {}, { trustedCertificates: [authority.cert] });
    expectFailure(ending, 'RetryableError', 'tls_failed');
  });

  it('that is no TLS fails', async () => {
    const server = await serveSockets((socket) => socket.end('HTTP/1.1 400 No\r\n\r\n'));
    expectFailure(await callTls(server), 'RetryableError', 'tls_failed');
  });

  it('is never given up by a redirect', async () => {
    const plain = await serveSockets((socket) => socket.destroy());
    const location = `http://target.test:${String(plain.port)}/`;
    const identity = authority.issue({ name: 'target.test' });
    const server = await serveTls(
      { ...identity },
      `HTTP/1.1 302 Found\r\nlocation: ${location}\r\n\r\n`,
    );
    const ending = await callTls(
      server,
      { method: 'GET', followRedirects: true },
      {
        trustedCertificates: [authority.cert],
        allowHosts: `target.test:${String(server.port)}, http://target.test:${String(plain.port)}`,
      },
    );
    expectFailure(ending, 'NonRetryableError', 'redirect_refused');
    expect(plain.connectionCount()).toBe(0);
  });

  it('that the target never answers is given up at the deadline', async () => {
    const server = await serveSockets((socket) => socket.resume());
    const ending = await callTls(server, { timeout: '250ms' });
    expectFailure(ending, 'RetryableError', 'deadline_exceeded');
    await server.allClosed();
  });
});

function callTls(
  server: LoopbackServer,
  payload: object = {},
  surroundings: Surroundings = {},
): Promise<Ending> {
  const port = String(server.port);
  const handler = makeHandler({
    allowHosts: `target.test:${port}`,
    allowCidrs: '127.0.0.1/32',
    lookup: everyNameIs('127.0.0.1'),
    ...surroundings,
  });
  return handler.run({ url: `https://target.test:${port}/`, ...payload });
}

function expectFailure(ending: Ending, name: string, code: string): void {
  expect(ending).toMatchObject({ ok: false, error: { name, code } });
}
