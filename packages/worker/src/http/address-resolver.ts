import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isAddressAllowed } from './address-gate.ts';
import type { AddressRange } from './address-gate.ts';
import { orAborted, startDeadline } from './deadline.ts';
import { ExchangeFailure } from './exchange-failure.ts';

/** An address that passed the gate; the only kind that a socket is opened to. */
export interface VettedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Asks for every address of a name. The door to the outside: tests put a hostile name server here. */
export type AddressLookup = (hostname: string) => Promise<readonly { readonly address: string }[]>;

/** The operating system's resolver, so that `/etc/hosts` and search rules mean what the operator expects. */
export const systemLookup: AddressLookup = (hostname) =>
  lookup(hostname, { all: true, verbatim: true });

/** What a resolution needs. */
export interface ResolveOptions {
  readonly lookup: AddressLookup;
  readonly openedRanges: readonly AddressRange[];
  readonly signal: AbortSignal;
}

const lookupTimeoutMs = 5_000;
const maxAnswers = 16;

/**
 * The addresses to connect to: the literal itself, or all answers of one look-up.
 *
 * One bad answer refuses them all: a name that has a public and a private address is an attack or a mistake.
 *
 * @param hostname a name, or an address without brackets.
 * @throws ExchangeFailure `egress_denied` or `connect_failed`; the signal's reason when that is aborted first.
 */
export async function resolveVetted(
  hostname: string,
  options: ResolveOptions,
): Promise<readonly VettedAddress[]> {
  const addresses = isIP(hostname) === 0 ? await answersFor(hostname, options) : [hostname];
  const refused = addresses.find((address) => !isAddressAllowed(address, options.openedRanges));
  if (refused !== undefined)
    throw new ExchangeFailure('egress_denied', `address ${refused} of ${hostname}`);
  return addresses.map((address) => ({ address, family: isIP(address) === 4 ? 4 : 6 }));
}

async function answersFor(hostname: string, options: ResolveOptions): Promise<readonly string[]> {
  const deadline = startDeadline({
    parent: options.signal,
    timeoutMs: lookupTimeoutMs,
    reason: new ExchangeFailure('connect_failed', 'the name was not resolved in time'),
  });
  try {
    const found = await orAborted(lookUp(hostname, options.lookup), deadline.signal);
    if (found.length === 0) throw new ExchangeFailure('connect_failed', 'the name has no address');
    if (found.length > maxAnswers) {
      throw new ExchangeFailure('egress_denied', `${String(found.length)} addresses for one name`);
    }
    return found.map(({ address }) => address);
  } finally {
    deadline.stop();
  }
}

async function lookUp(hostname: string, ask: AddressLookup): ReturnType<AddressLookup> {
  try {
    return await ask(hostname);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new ExchangeFailure('connect_failed', `the name was not resolved: ${code}`);
  }
}
