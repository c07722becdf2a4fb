import { ConfigError } from '@holdfast/domain';
import { parseAddressRange } from './address-gate.ts';
import type { AddressRange } from './address-gate.ts';
import { parseHostRule } from './host-rule.ts';
import type { HostRule } from './host-rule.ts';

/** Where HTTP jobs may go. What no rule names is denied. Immutable. */
export interface EgressPolicy {
  /** A URL must match one of these. */
  readonly hostRules: readonly HostRule[];
  /** Ranges that are not public and may be connected to all the same. */
  readonly openedRanges: readonly AddressRange[];
}

/** The two settings as text, each a comma separated list; missing or empty means none. */
export interface EgressSettings {
  /**
   * HOLDFAST_EGRESS_ALLOW_HOSTS: `api.example.com`, `*.example.com` (its subdomains, not itself), `10.0.0.7`, `[fd00::7]`,
   * each with an optional `:port`. Entries are for https; `http://` before the host makes one for http instead.
   */
  readonly allowHosts?: string | undefined;
  /** HOLDFAST_EGRESS_ALLOW_CIDRS: `10.1.0.0/16`, `127.0.0.1/32`. Opens addresses, not hosts: a host rule is needed too. */
  readonly allowCidrs?: string | undefined;
}

/** Bad egress settings. `problems` has one line for each bad entry, and each begins with the setting's name. */
export class EgressPolicyError extends ConfigError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Invalid egress settings\n${problems.join('\n')}`);
    this.problems = problems;
  }
}

/** The policy of an installation without settings: nothing may be called. */
export const denyAllEgress: EgressPolicy = Object.freeze({
  hostRules: Object.freeze([]),
  openedRanges: Object.freeze([]),
});

/**
 * Reads the policy from the two settings.
 *
 * @throws EgressPolicyError that lists every bad entry of both.
 */
export function parseEgressPolicy(settings: EgressSettings): EgressPolicy {
  const problems: string[] = [];
  const hostRules = entriesOf(settings.allowHosts).flatMap((entry) => {
    const parsed = parseHostRule(entry);
    if ('rule' in parsed) return [parsed.rule];
    problems.push(`HOLDFAST_EGRESS_ALLOW_HOSTS: ${JSON.stringify(entry)} ${parsed.problem}`);
    return [];
  });
  const openedRanges = entriesOf(settings.allowCidrs).flatMap((entry) => {
    const parsed = parseAddressRange(entry);
    if ('range' in parsed) return [parsed.range];
    problems.push(`HOLDFAST_EGRESS_ALLOW_CIDRS: ${JSON.stringify(entry)} ${parsed.problem}`);
    return [];
  });
  if (problems.length > 0) throw new EgressPolicyError(problems);
  return Object.freeze({
    hostRules: Object.freeze(hostRules),
    openedRanges: Object.freeze(openedRanges),
  });
}

function entriesOf(list: string | undefined): readonly string[] {
  const entries = (list ?? '').split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}
