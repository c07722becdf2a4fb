import { describe, expect, it } from 'vitest';
import { isAddressAllowed, parseAddressRange } from '../../src/http/address-gate.ts';
import type { AddressRange } from '../../src/http/address-gate.ts';

function opened(...entries: readonly string[]): readonly AddressRange[] {
  return entries.map((entry) => {
    const parsed = parseAddressRange(entry);
    if ('problem' in parsed) throw new Error(`${entry} ${parsed.problem}`);
    return parsed.range;
  });
}

const everythingOpenable = opened(
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
);

const privateAddresses = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fc00::1',
  'fd12:3456::1',
];

const neverAllowed = [
  '0.0.0.0',
  '0.1.2.3',
  '169.254.169.254',
  '169.254.0.1',
  '192.0.0.8',
  '192.0.0.192',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:10.0.0.1',
  '::ffff:0:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b::808:808',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '2002:808:808::1',
  '2001::1',
  '2001:0:7f00:1::1',
  '2001:db8::1',
  '2001:10::1',
  '3fff::1',
  '5f00::1',
  '100::1',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
  '4000::1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '8.8.8.8%eth0',
  '2606:4700::1%eth0',
  ' 8.8.8.8',
  '8.8.8.8/32',
  'localhost',
  '',
];

describe('without opened ranges', () => {
  it.each([
    '8.8.8.8',
    '93.184.215.14',
    '100.63.255.255',
    '100.128.0.1',
    '172.32.0.1',
    '2606:4700::1111',
  ])('the public address %s is allowed', (address) => {
    expect(isAddressAllowed(address, [])).toBe(true);
  });

  it.each([...privateAddresses, ...neverAllowed])('%j is refused', (address) => {
    expect(isAddressAllowed(address, [])).toBe(false);
  });
});

describe('with every range open that can be opened', () => {
  it.each(privateAddresses)('%s is allowed', (address) => {
    expect(isAddressAllowed(address, everythingOpenable)).toBe(true);
  });

  it.each(neverAllowed)('%j is still refused', (address) => {
    expect(isAddressAllowed(address, everythingOpenable)).toBe(false);
  });
});

it('opens exactly the range that was named', () => {
  const range = opened('10.1.0.0/16', '127.0.0.2');
  const allowed = [
    '10.1.0.0',
    '10.1.255.255',
    '10.0.255.255',
    '10.2.0.0',
    '127.0.0.2',
    '127.0.0.1',
  ];
  expect(allowed.filter((address) => isAddressAllowed(address, range))).toEqual([
    '10.1.0.0',
    '10.1.255.255',
    '127.0.0.2',
  ]);
});
