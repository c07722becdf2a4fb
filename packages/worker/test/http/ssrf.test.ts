import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemLookup } from '../../src/http/address-resolver.ts';
import { everyNameIs, makeHandler } from './support/handler-under-test.ts';
import type { Ending, Surroundings } from './support/handler-under-test.ts';
import { hasLoopbackAddress, openCanary, serveHttp } from './support/loopback-server.ts';
import {
  ipv6Literals,
  localAnswers,
  loopbackSpellings,
  metadataSpellings,
  ruleFor,
} from './support/ssrf-table.ts';

// Never contacted: every test that names it also gives an answer that refuses the whole.
const publicAddress = '93.184.215.14';
const secondLoopback = '127.0.0.2';
const hasSecondLoopback = await hasLoopbackAddress(secondLoopback);
const hasIpv6 = await hasLoopbackAddress('::1');

function expectDenied(ending: Ending): void {
  expect(ending).toMatchObject({
    ok: false,
    error: {
      name: 'NonRetryableError',
      code: 'egress_denied',
      message: 'The egress policy does not allow this destination',
    },
  });
}

async function attack(url: string, surroundings: Surroundings): Promise<Ending> {
  return makeHandler(surroundings).run({ url, method: 'GET', followRedirects: true });
}

describe('literal addresses', () => {
  const hosts = [...loopbackSpellings, ...metadataSpellings, ...ipv6Literals];

  it.each(hosts)('%s is refused where the list does not name it', async (host) => {
    const canary = await openCanary();
    const allowHosts = `http://target.test:${String(canary.port)}, http://*.example.com:${String(canary.port)}`;
    expectDenied(await attack(`http://${host}:${String(canary.port)}/`, { allowHosts }));
    expect(await canary.strangers()).toBe(0);
  });

  it.each(hosts)('%s is refused by its address where the list names it', async (host) => {
    const canary = await openCanary();
    const surroundings = { allowHosts: ruleFor(host, canary.port), allowCidrs: '10.0.0.0/8' };
    expectDenied(await attack(`http://${host}:${String(canary.port)}/`, surroundings));
    expect(await canary.strangers()).toBe(0);
  });

  it.each(['[fe80::1%25lo]', '[::1%25lo]', '[fe80::1%lo]'])(
    'the zone id in %s makes it no URL at all',
    async (host) => {
      const canary = await openCanary();
      const ending = await attack(`http://${host}:${String(canary.port)}/`, {});
      expect(ending).toMatchObject({ ok: false, error: { code: 'http_request_invalid' } });
      expect(await canary.strangers()).toBe(0);
    },
  );

  it.each(
    loopbackSpellings.filter((host) => !host.startsWith('0.') && host !== '0' && host !== '0x0'),
  )('%s reaches the canary once the operator opens its address', async (host) => {
    const canary = await openCanary();
    await attack(`http://${host}:${String(canary.port)}/`, {
      allowHosts: ruleFor(host, canary.port),
      allowCidrs: '127.0.0.1/32',
    });
    expect(await canary.strangers()).toBe(1);
  });

  it.skipIf(!hasIpv6)('[::1] reaches the canary once the operator opens its address', async () => {
    const canary = await openCanary();
    await attack(`http://[::1]:${String(canary.port)}/`, {
      allowHosts: ruleFor('[::1]', canary.port),
      allowCidrs: '::1/128',
    });
    expect(await canary.strangers()).toBe(1);
  });
});

describe('names with local addresses', () => {
  const rule = (port: number) => `http://target.test:${String(port)}`;

  it.each(localAnswers)('a name that is %s is refused', async (address) => {
    const canary = await openCanary();
    const surroundings = { allowHosts: rule(canary.port), lookup: everyNameIs(address) };
    expectDenied(await attack(`http://target.test:${String(canary.port)}/`, surroundings));
    expect(await canary.strangers()).toBe(0);
  });

  it.each(localAnswers)('a name that is %s beside a public address is refused', async (address) => {
    const canary = await openCanary();
    for (const answers of [
      [publicAddress, address],
      [address, publicAddress],
    ]) {
      const surroundings = { allowHosts: rule(canary.port), lookup: everyNameIs(...answers) };
      expectDenied(await attack(`http://target.test:${String(canary.port)}/`, surroundings));
    }
    expect(await canary.strangers()).toBe(0);
  });

  it('a name with more than sixteen addresses is refused, whatever they are', async () => {
    const canary = await openCanary();
    const addresses = Array.from({ length: 17 }, () => '127.0.0.1');
    const surroundings = {
      allowHosts: rule(canary.port),
      allowCidrs: '127.0.0.0/8',
      lookup: everyNameIs(...addresses),
    };
    expectDenied(await attack(`http://target.test:${String(canary.port)}/`, surroundings));
    expect(await canary.strangers()).toBe(0);
  });

  it('the operating system’s own name for loopback is refused', async () => {
    const canary = await openCanary();
    expectDenied(
      await attack(`http://localhost:${String(canary.port)}/`, {
        allowHosts: `http://localhost:${String(canary.port)}`,
        lookup: systemLookup,
      }),
    );
    expect(await canary.strangers()).toBe(0);
  });
});

describe.skipIf(!hasSecondLoopback)('names that change between the check and the use', () => {
  it('the socket goes to the address that was checked, and the name is asked for once', async () => {
    const canary = await openCanary();
    const target = await serveHttp((_request, response) => response.end('allowed'), {
      host: secondLoopback,
      port: canary.port,
    });
    const answers = [secondLoopback, '127.0.0.1'];
    const asked: string[] = [];
    const handler = makeHandler({
      allowHosts: `http://target.test:${String(canary.port)}`,
      allowCidrs: `${secondLoopback}/32`,
      lookup: (hostname) => {
        asked.push(hostname);
        return Promise.resolve([{ address: answers[asked.length - 1] ?? '127.0.0.1' }]);
      },
    });
    const payload = { url: `http://target.test:${String(canary.port)}/`, method: 'GET' };

    expect(await handler.run(payload)).toMatchObject({ ok: true, result: { body: 'allowed' } });
    expect(asked).toEqual(['target.test']);
    expect(target.connectionCount()).toBe(1);

    expectDenied(await handler.run(payload));
    expect(asked).toEqual(['target.test', 'target.test']);
    expect(await canary.strangers()).toBe(0);
  });

  it('a kept connection does not spare the next hop from the check', async () => {
    const canary = await openCanary();
    await serveHttp(
      (_request, response) => {
        response.writeHead(302, { location: '/again', connection: 'keep-alive' }).end();
      },
      { host: secondLoopback, port: canary.port },
    );
    let asked = 0;
    const ending = await attack(`http://target.test:${String(canary.port)}/`, {
      allowHosts: `http://target.test:${String(canary.port)}`,
      allowCidrs: `${secondLoopback}/32`,
      lookup: () => {
        asked += 1;
        return Promise.resolve([{ address: asked === 1 ? secondLoopback : '127.0.0.1' }]);
      },
    });
    expectDenied(ending);
    expect(asked).toBe(2);
    expect(await canary.strangers()).toBe(0);
  });
});

describe.skipIf(!hasSecondLoopback)('redirects', () => {
  const hosts = [...loopbackSpellings, ...metadataSpellings, ...ipv6Literals];

  async function redirectTo(location: string, allowHosts: string): Promise<Ending> {
    const target = await serveHttp(
      (_request, response) => response.writeHead(302, { location }).end(),
      { host: secondLoopback },
    );
    return attack(`http://start.test:${String(target.port)}/`, {
      allowHosts: `http://start.test:${String(target.port)}, ${allowHosts}`,
      allowCidrs: `${secondLoopback}/32`,
      lookup: (name) =>
        Promise.resolve([{ address: name === 'start.test' ? secondLoopback : '127.0.0.1' }]),
    });
  }

  it.each(hosts)('to %s are refused, whether or not the list names it', async (host) => {
    const canary = await openCanary();
    const location = encodeURI(`http://${host}:${String(canary.port)}/`).replaceAll('%25', '%');
    const asWritten = location.replaceAll(/%5[BD]/g, decodeURIComponent);
    expectDenied(await redirectTo(asWritten, 'http://other.test'));
    expectDenied(await redirectTo(asWritten, ruleFor(host, canary.port)));
    expect(await canary.strangers()).toBe(0);
  });

  it('to a name that is local are refused', async () => {
    const canary = await openCanary();
    const location = `http://next.test:${String(canary.port)}/`;
    expectDenied(await redirectTo(location, `http://next.test:${String(canary.port)}`));
    expect(await canary.strangers()).toBe(0);
  });

  it.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'data:text/plain,x',
    'http://a:b@start.test/',
  ])('to %s are refused', async (location) => {
    expectDenied(await redirectTo(location, 'http://other.test'));
  });
});

describe('URLs that parsers read differently', () => {
  it.each([
    'http://target.test@127.0.0.1:PORT/',
    'http://target.test:PORT@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT@target.test:PORT/',
    'http://user:secret@target.test:PORT/',
    'http://target.test:PORT\\@127.0.0.1:PORT/',
    'http://127.0.0.1:PORT\\@target.test:PORT/',
    'http:\\\\127.0.0.1:PORT/',
    'http://127.0.0.1:PORT#@target.test:PORT/',
    'http://127.0.0.1:PORT?@target.test:PORT/',
    'http://127.0.0.1:PORT/?target.test:PORT',
    'http:127.0.0.1:PORT',
    'http:///127.0.0.1:PORT/',
    'http://127.0.0.1\t:PORT/',
    'http://target.test:PORT\r\n@127.0.0.1:PORT/',
    ' http://127.0.0.1:PORT/',
    'http://localhost.:PORT/',
    'http://localhost..:PORT/',
    'http://LOCALHOST:PORT/',
    'http://ｌｏｃａｌｈｏｓｔ:PORT/',
    'http://loc\u00adalhost:PORT/',
    'http://ⓛocalhost:PORT/',
    'http://target.test.127.0.0.1.nip.test:PORT/',
    'http://eviltarget.test:PORT/',
  ])('%j does not reach the canary', async (template) => {
    const canary = await openCanary();
    const url = template.replaceAll('PORT', String(canary.port));
    expectDenied(
      await attack(url, {
        allowHosts: `http://target.test:${String(canary.port)}`,
        allowCidrs: '127.0.0.1/32',
        lookup: everyNameIs('127.0.0.1'),
      }),
    );
    expect(await canary.strangers()).toBe(0);
  });
});

describe('ports', () => {
  it.each([22, 25, 80, 443, 5432, 6379, 8080])(
    '%i is refused where the list does not name it',
    async (port) => {
      expectDenied(
        await attack(`http://target.test:${String(port)}/`, {
          allowHosts: 'http://target.test:8081, target.test',
          allowCidrs: '127.0.0.1/32',
          lookup: everyNameIs('127.0.0.1'),
        }),
      );
    },
  );
});

describe('schemes', () => {
  it.each([
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_FLUSHALL',
    'data:text/plain,hello',
    'ftp://127.0.0.1/',
    'unix:/var/run/docker.sock',
    'http+unix://%2Fvar%2Frun%2Fdocker.sock/',
    'javascript:alert(1)',
    'ws://target.test/',
    'blob:https://target.test/1',
  ])('%s is refused', async (url) => {
    expectDenied(
      await attack(url, { allowHosts: 'target.test', lookup: everyNameIs('127.0.0.1') }),
    );
  });
});

describe('what is told', () => {
  it('is the same to the job for every gate, and the gate to the operator only', async () => {
    const hosts = 'http://listed.test, http://10.0.0.1, http://mixed.test';
    const handler = makeHandler({
      allowHosts: hosts,
      lookup: everyNameIs(publicAddress, '10.0.0.1'),
    });
    const urls = [
      'ftp://x.test/',
      'http://unlisted.test/',
      'http://10.0.0.1/',
      'http://mixed.test/',
    ];
    const errors = [];
    for (const url of urls) {
      const ending = await handler.run({ url, method: 'GET' });
      if (ending.ok) throw new Error(`${url} was let through`);
      const { message, code, name, cause, stack } = ending.error;
      // Line numbers would tell the gates apart.
      errors.push({ message, code, name, cause, stack: stack?.split('\n')[1] });
    }
    expect(new Set(errors.map((error) => JSON.stringify(error))).size).toBe(1);
    expect(handler.reports.map(({ detail }) => detail)).toEqual([
      'url: scheme',
      'url: not_listed (unlisted.test)',
      'address 10.0.0.1 of 10.0.0.1',
      'address 10.0.0.1 of mixed.test',
    ]);
  });

  it('does not tell a closed port from a name without address', async () => {
    const server = await serveHttp((_request, response) => response.end());
    const closed = await closedPort();
    const allowHosts = `http://127.0.0.1:${String(closed)}, http://nowhere.test:${String(server.port)}`;
    const handler = makeHandler({ allowHosts, allowCidrs: '127.0.0.1/32' });
    const refused = await handler.run({
      url: `http://127.0.0.1:${String(closed)}/`,
      method: 'GET',
    });
    const unknown = await handler.run({
      url: `http://nowhere.test:${String(server.port)}/`,
      method: 'GET',
    });
    for (const ending of [refused, unknown]) {
      expect(ending).toMatchObject({
        ok: false,
        error: {
          name: 'RetryableError',
          code: 'connect_failed',
          message: 'No connection to the destination could be made',
          cause: undefined,
        },
      });
    }
  });
});

it('ignores the proxies of the environment', async () => {
  const canary = await openCanary();
  const target = await serveHttp((_request, response) => response.end('direct'));
  const proxy = `http://127.0.0.1:${String(canary.port)}`;
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY'];
  const before = names.map((name) => [name, process.env[name]] as const);
  onTestFinished(() => {
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name);
      else process.env[name] = value;
    }
  });
  for (const name of names) process.env[name] = proxy;

  const ending = await attack(`http://127.0.0.1:${String(target.port)}/`, {
    allowHosts: `http://127.0.0.1:${String(target.port)}`,
    allowCidrs: '127.0.0.1/32',
  });
  expect(ending).toMatchObject({ ok: true, result: { body: 'direct' } });
  expect(await canary.strangers()).toBe(0);
});

async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
