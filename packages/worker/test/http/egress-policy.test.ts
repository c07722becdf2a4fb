import { describe, expect, it } from 'vitest';
import { EgressPolicyError, parseEgressPolicy } from '../../src/http/egress-policy.ts';
import { checkUrl } from '../../src/http/url-gate.ts';

function allows(allowHosts: string, url: string): boolean {
  return checkUrl(url, parseEgressPolicy({ allowHosts })).passed;
}

function problemsOf(settings: { allowHosts?: string; allowCidrs?: string }): readonly string[] {
  try {
    parseEgressPolicy(settings);
  } catch (error) {
    if (error instanceof EgressPolicyError) return error.problems;
    throw error;
  }
  return [];
}

describe('the list of allowed hosts', () => {
  it.each([undefined, '', ' , ,'])('allows nothing when it is %j', (allowHosts) => {
    const policy = parseEgressPolicy({ allowHosts });
    expect(checkUrl('https://api.example.com/', policy)).toEqual({
      passed: false,
      refusal: 'not_listed',
    });
  });

  it.each([
    ['api.example.com', 'https://api.example.com/orders?id=1'],
    ['api.example.com', 'https://API.Example.COM/'],
    ['API.example.com', 'https://api.example.com:443/'],
    ['api.example.com', 'https://api.example.com./'],
    ['api.example.com.', 'https://api.example.com/'],
    ['https://api.example.com', 'https://api.example.com/'],
    ['api.example.com:8443', 'https://api.example.com:8443/'],
    ['http://api.example.com', 'http://api.example.com/'],
    ['http://api.example.com:8080', 'http://api.example.com:8080/'],
    ['*.example.com', 'https://api.example.com/'],
    ['*.example.com', 'https://a.b.example.com/'],
    ['*.example.com:8443', 'https://api.example.com:8443/'],
    ['other.example, api.example.com', 'https://api.example.com/'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
    ['93.184.215.14', 'https://93.184.215.14/'],
    ['http://[::1]:8080', 'http://[0:0:0:0:0:0:0:1]:8080/'],
  ])('with %s allows %s', (allowHosts, url) => {
    expect(allows(allowHosts, url)).toBe(true);
  });

  it.each([
    ['api.example.com', 'http://api.example.com/'],
    ['api.example.com', 'http://api.example.com:443/'],
    ['api.example.com', 'https://api.example.com:8443/'],
    ['api.example.com:8443', 'https://api.example.com/'],
    ['api.example.com:8443', 'http://api.example.com:8443/'],
    ['http://api.example.com', 'https://api.example.com/'],
    ['api.example.com', 'https://evil-api.example.com/'],
    ['api.example.com', 'https://api.example.com.evil.test/'],
    ['api.example.com', 'https://api.example.com../'],
    ['*.example.com', 'https://example.com/'],
    ['*.example.com', 'https://evilexample.com/'],
    ['*.example.com', 'https://api.example.com.evil.test/'],
    ['*.example.com', 'https://.example.com/'],
    ['127.0.0.1', 'https://127.0.0.2/'],
  ])('with %s refuses %s', (allowHosts, url) => {
    expect(allows(allowHosts, url)).toBe(false);
  });

  it.each([22, 25, 5432, 6379])('cannot name port %i', (port) => {
    expect(problemsOf({ allowHosts: `db.example.com:${String(port)}` })).toEqual([
      `HOLDFAST_EGRESS_ALLOW_HOSTS: "db.example.com:${String(port)}" names a port on which HTTP is not allowed`,
    ]);
  });
});

describe('bad settings', () => {
  it.each([
    '*',
    '*.com',
    '*.10.0.0.1',
    'a.*.example.com',
    'ftp://example.com',
    'https://example.com/path',
    'user@example.com',
    'example.com:0',
    'example.com:70000',
    'exa mple.com',
    '-example.com',
    'a..example.com',
    '127.1',
    '0x7f000001',
    '[fe80::1%25eth0]',
    '[::1',
  ])('refuse the host %s', (entry) => {
    expect(problemsOf({ allowHosts: entry })).toHaveLength(1);
  });

  it.each([
    '0.0.0.0/0',
    '::/0',
    '8.8.8.0/24',
    '169.254.0.0/16',
    '169.254.169.254/32',
    '168.63.129.16',
    '::ffff:10.0.0.0/104',
    '64:ff9b::/96',
    'fe80::/10',
    '224.0.0.0/4',
    '10.0.0.0/7',
    '10.1.2.3/8',
    '10.0.0.0/33',
    '10.0.0',
    'localhost',
  ])('refuse the range %s', (entry) => {
    expect(problemsOf({ allowCidrs: entry })).toHaveLength(1);
  });

  it('are listed all at once, each with the name of its setting', () => {
    const problems = problemsOf({
      allowHosts: 'good.example.com, *.com, ftp://x.example',
      allowCidrs: '10.0.0.0/8, 8.8.8.8',
    });
    expect(problems.map((problem) => problem.split(' ').slice(0, 2).join(' '))).toEqual([
      'HOLDFAST_EGRESS_ALLOW_HOSTS: "*.com"',
      'HOLDFAST_EGRESS_ALLOW_HOSTS: "ftp://x.example"',
      'HOLDFAST_EGRESS_ALLOW_CIDRS: "8.8.8.8"',
    ]);
  });

  it('say which network a range with stray bits would be', () => {
    expect(problemsOf({ allowCidrs: '10.1.2.3/8' })[0]).toContain('10.0.0.0');
  });
});

it('gives a policy that nobody can change', () => {
  const policy = parseEgressPolicy({ allowHosts: 'api.example.com', allowCidrs: '10.0.0.0/8' });
  expect([policy, policy.hostRules, policy.openedRanges, policy.hostRules[0]]).toSatisfy(
    (parts: readonly unknown[]) => parts.every((part) => Object.isFrozen(part)),
  );
});
