import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A block of addresses: the network and the number of its leading bits that count. */
export interface AddressRange {
  readonly network: Address;
  readonly prefixBits: number;
}

/** A range, or one sentence that says what is wrong with the entry. */
export type ParsedAddressRange = { readonly range: AddressRange } | { readonly problem: string };

/**
 * The only ranges that an operator can open: loopback, the private ranges of RFC 1918, shared address space (RFC 6598) and
 * unique local IPv6 (RFC 4193). Link-local, multicast, translated and reserved addresses cannot be opened.
 */
const openableRanges = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
].map(knownRange);

/** Cloud platforms answer with credentials here. The ranges around them may be public or opened; these never are. */
const metadataAddresses = [
  '168.63.129.16/32',
  '100.100.100.200/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
].map(knownRange);

/** All global unicast addresses of IPv6 that are assigned are in here (RFC 4291, 2.4 and IANA's registry). */
const globalUnicastIpv6 = knownRange('2000::/3');

/**
 * Whether a connection to this address is allowed: it is global unicast, or in a range that the operator opened.
 *
 * Addresses that wrap another one (IPv4-mapped, NAT64, 6to4, Teredo) are refused whatever they wrap, as are addresses with
 * a zone id and everything that is not the plain text of an address.
 */
export function isAddressAllowed(address: string, opened: readonly AddressRange[]): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (isInAny(parsed, metadataAddresses)) return false;
  return isGlobalUnicast(parsed) || isInAny(parsed, opened);
}

/** Reads one entry of the list of opened ranges: a CIDR block or a single address inside an openable range. */
export function parseAddressRange(entry: string): ParsedAddressRange {
  const text = isIP(entry) === 0 ? entry : `${entry}/${isIP(entry) === 4 ? '32' : '128'}`;
  const [address = ''] = text.split('/');
  if (isIP(address) === 0 || address.includes('%') || !ipaddr.isValidCIDR(text)) {
    return { problem: 'is not a CIDR block like 10.0.0.0/8' };
  }
  const range = knownRange(text);
  if (!openableRanges.some((outer) => contains(outer, range))) {
    return { problem: 'is not inside a loopback, private or unique local range' };
  }
  const network = networkOf(text, range.network.kind());
  if (network !== range.network.toString()) {
    return { problem: `has bits set behind its prefix; write ${network} or a longer prefix` };
  }
  return { range: Object.freeze(range) };
}

/** One text for one address, so that two spellings compare equal; an IPv4-mapped address becomes its IPv4 address. */
export function canonicalAddress(address: string): string {
  return ipaddr.process(address).toString();
}

function isGlobalUnicast(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || isIn(address, globalUnicastIpv6);
}

function isInAny(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some((range) => isIn(address, range));
}

function isIn(address: Address, range: AddressRange): boolean {
  return address.kind() === range.network.kind() && address.match(range.network, range.prefixBits);
}

function contains(outer: AddressRange, inner: AddressRange): boolean {
  return inner.prefixBits >= outer.prefixBits && isIn(inner.network, outer);
}

function networkOf(cidr: string, kind: 'ipv4' | 'ipv6'): string {
  const parser = kind === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return parser.networkAddressFromCIDR(cidr).toString();
}

function knownRange(cidr: string): AddressRange {
  const [network, prefixBits] = ipaddr.parseCIDR(cidr);
  return { network, prefixBits };
}
