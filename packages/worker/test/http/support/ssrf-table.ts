/** Hosts as an attacker writes them, each with the canonical form that `URL` makes of it. */

/** Spellings of 127.0.0.1 and its neighbours: a request to one of them would reach the canary. */
export const loopbackSpellings = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0X7F.0x0.0x0.0x1',
  '017700000001',
  '0177.0.0.01',
  '127.0.0.1.',
  '127.000.000.001',
  '①②⑦.0.0.1',
  '１２７.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0',
  '0.0.0.0',
  '0x0',
] as const;

/** Spellings of the address where clouds keep their credentials. */
export const metadataSpellings = [
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0xa9.0xfe.0xa9.0xfe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '169.16689662',
  '①⑥⑨.254.169.254',
  '168.63.129.16',
] as const;

/** IPv6 literals that are local or wrap a local IPv4 address. */
export const ipv6Literals = [
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:7F00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[::ffff:0:7f00:1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[2001:db8::1]',
] as const;

/** Answers of a name server that no job may be led to. */
export const localAnswers = [
  '127.0.0.1',
  '127.0.0.53',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '168.63.129.16',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::1',
  'fc00::1',
  'fe80::1',
  'fe80::1%lo',
  'ff02::1',
] as const;

/** The rule that would allow exactly this host over http at the port, if addresses did not matter. */
export function ruleFor(host: string, port: number): string {
  return `http://${new URL(`http://${host}/`).hostname}:${String(port)}`;
}
