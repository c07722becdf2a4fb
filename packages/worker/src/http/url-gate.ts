import type { EgressPolicy } from './egress-policy.ts';
import { isHostName, isIpHost, matchesHostRule } from './host-rule.ts';

/** A URL that may be requested as far as its text goes, or the rule that it breaks. */
export type UrlVerdict =
  | { readonly passed: true; readonly url: URL }
  | { readonly passed: false; readonly refusal: UrlRefusal };

/** Why a URL is refused. For the operator; whoever made the job learns only that it was. */
export type UrlRefusal =
  | 'malformed'
  | 'too_long'
  | 'unsafe_characters'
  | 'scheme'
  | 'credentials'
  | 'host_name'
  | 'not_listed';

const maxUrlLength = 8_192;

// URL parsers disagree about these: some strip them, some read a backslash as a slash, some as part of the user name.
const unsafeCharacters = /[\u0000-\u0020\u007f\\]/;

/**
 * Reads a URL by the rules that hold for every destination: http or https, no user name or password, a host that is a
 * name or an address, no control characters, blanks or backslashes. The fragment and one trailing dot are removed.
 *
 * @param base what a relative reference (a redirect's `Location`) is relative to.
 */
export function readUrl(text: string, base?: URL): UrlVerdict {
  if (text.length > maxUrlLength) return refused('too_long');
  if (unsafeCharacters.test(text)) return refused('unsafe_characters');
  if (!URL.canParse(text, base?.href)) return refused('malformed');
  const url = new URL(text, base?.href);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('scheme');
  if (url.username !== '' || url.password !== '') return refused('credentials');
  url.hash = '';
  url.hostname = url.hostname.replace(/\.$/, '');
  if (!isIpHost(url.hostname) && !isHostName(url.hostname)) return refused('host_name');
  return { passed: true, url };
}

/** {@link readUrl}, and the destination must be one that the policy names by scheme, host and port. */
export function checkUrl(text: string, policy: EgressPolicy, base?: URL): UrlVerdict {
  const verdict = readUrl(text, base);
  if (!verdict.passed) return verdict;
  const listed = policy.hostRules.some((rule) => matchesHostRule(rule, verdict.url));
  return listed ? verdict : refused('not_listed');
}

function refused(refusal: UrlRefusal): UrlVerdict {
  return { passed: false, refusal };
}
