import { isIP } from 'node:net';
import { isPortAllowed } from './blocked-ports.ts';

/** The two schemes that a request can have, written as `URL.protocol` has them. */
export type HttpScheme = 'https:' | 'http:';

/** One destination that the operator allowed. It names one scheme and one port; nothing is implied. */
export interface HostRule {
  readonly scheme: HttpScheme;
  /** Canonical, as `URL.hostname` has it: lower case, punycode, IPv6 in brackets; without the `*.` of a wildcard. */
  readonly host: string;
  /** `any_subdomain`: names that end in `.` and {@link host}, at any depth; never {@link host} itself. */
  readonly match: 'exact' | 'any_subdomain';
  readonly port: number;
}

/** A rule, or one sentence that says what is wrong with the entry. */
export type ParsedHostRule = { readonly rule: HostRule } | { readonly problem: string };

const defaultPorts: Readonly<Record<HttpScheme, number>> = { 'https:': 443, 'http:': 80 };

const entryForm = /^(?:(https?):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^\s/:?#@\\[\]*%]+)(?::(\d{1,5}))?$/i;

/**
 * Reads one entry of the allow list: `[https://|http://][*.]host[:port]`.
 *
 * Without a scheme the entry is for https. Plain http has to be asked for by writing `http://` before the host, and then
 * the entry is for http only. Without a port it is for the scheme's own port (443 or 80).
 */
export function parseHostRule(entry: string): ParsedHostRule {
  const [, schemeName, star, written, portText] = entryForm.exec(entry) ?? [];
  if (written === undefined) {
    return { problem: 'is not of the form host, *.suffix, host:port or http://host:port' };
  }
  const host = canonicalHost(written);
  if (host === undefined) return { problem: 'has no valid host name' };

  const match = star === undefined ? 'exact' : 'any_subdomain';
  const hostProblem = findHostProblem({ host, match, written });
  if (hostProblem !== undefined) return { problem: hostProblem };

  const scheme: HttpScheme = schemeName?.toLowerCase() === 'http' ? 'http:' : 'https:';
  const port = portText === undefined ? defaultPorts[scheme] : Number(portText);
  if (!isPortAllowed(port)) return { problem: 'names a port on which HTTP is not allowed' };
  return { rule: Object.freeze({ scheme, host, match, port }) };
}

/** Whether the rule allows this URL. The URL's host must be canonical and without a trailing dot. */
export function matchesHostRule(rule: HostRule, url: URL): boolean {
  if (url.protocol !== rule.scheme || effectivePort(url) !== rule.port) return false;
  if (rule.match === 'exact') return url.hostname === rule.host;
  return !isIpHost(url.hostname) && url.hostname.endsWith(`.${rule.host}`);
}

/** Whether a `URL.hostname` is an IP address rather than a name. */
export function isIpHost(hostname: string): boolean {
  return isIP(withoutBrackets(hostname)) !== 0;
}

/** `[::1]` → `::1`; anything else unchanged. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Whether every label has 1 to 63 letters, digits, hyphens or underscores, and the whole at most 253 characters. */
export function isHostName(hostname: string): boolean {
  return (
    hostname.length <= 253 &&
    hostname.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  );
}

function effectivePort(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'http:' ? defaultPorts['http:'] : defaultPorts['https:'];
}

function canonicalHost(written: string): string | undefined {
  const text = `https://${written}/`;
  if (!URL.canParse(text)) return undefined;
  const host = new URL(text).hostname.replace(/\.$/, '');
  return isIpHost(host) || isHostName(host) ? host : undefined;
}

function findHostProblem(entry: {
  readonly host: string;
  readonly match: HostRule['match'];
  readonly written: string;
}): string | undefined {
  const { host, match, written } = entry;
  if (match === 'any_subdomain') {
    if (isIpHost(host)) return 'has a wildcard before an IP address';
    if (!host.includes('.')) return 'has a wildcard that covers a whole top-level domain';
  }
  // `127.1` and `0x7f000001` are addresses too, but whoever reads the list should see which.
  if (isIP(host) === 4 && written !== host) return `must be written in full, as ${host}`;
  return undefined;
}
