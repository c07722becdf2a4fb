import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A key and its certificate as `tls` takes them. */
export interface TestIdentity {
  readonly key: string;
  readonly cert: string;
}

/** An identity that can sign others. */
export interface TestAuthority extends TestIdentity {
  issue(subject: {
    readonly name: string;
    readonly notBefore?: Date;
    readonly notAfter?: Date;
  }): TestIdentity;
}

const yesterday = new Date(Date.now() - 86_400_000);
const tomorrow = new Date(Date.now() + 86_400_000);

/**
 * A certificate authority made for one test run, so that no key is kept in the repository and no certificate runs out.
 * Writes the few DER structures of RFC 5280 that a server certificate needs.
 */
export function makeAuthority(): TestAuthority {
  const own = newKeys();
  const name = 'Loopback test authority';
  const cert = certificate({
    issuer: name,
    subject: name,
    notBefore: yesterday,
    notAfter: tomorrow,
    publicKey: own.publicKey,
    signer: own.privateKey,
    extension: basicConstraintsAuthority,
  });
  return {
    key: pem(own.privateKey),
    cert,
    issue({ name: subject, notBefore = yesterday, notAfter = tomorrow }) {
      const keys = newKeys();
      return {
        key: pem(keys.privateKey),
        cert: certificate({
          issuer: name,
          subject,
          notBefore,
          notAfter,
          publicKey: keys.publicKey,
          signer: own.privateKey,
          extension: alternativeName(subject),
        }),
      };
    },
  };
}

interface CertificateFacts {
  readonly issuer: string;
  readonly subject: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly extension: Buffer;
}

function certificate(facts: CertificateFacts): string {
  const toBeSigned = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    distinguishedName(facts.issuer),
    sequence(generalizedTime(facts.notBefore), generalizedTime(facts.notAfter)),
    distinguishedName(facts.subject),
    facts.publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, sequence(facts.extension)),
  );
  const signature = sign('sha256', toBeSigned, facts.signer);
  const whole = sequence(
    toBeSigned,
    ecdsaWithSha256,
    der(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function newKeys() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pem(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }).toString();
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const header = length < 128 ? [tag, length] : [tag, 0x82, Math.floor(length / 256), length % 256];
  return Buffer.concat([Buffer.from(header), content]);
}

function sequence(...contents: readonly Buffer[]): Buffer {
  return der(0x30, ...contents);
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

const ecdsaWithSha256 = sequence(objectId('2a8648ce3d040302'));
const basicConstraintsAuthority = sequence(
  objectId('551d13'),
  der(0x01, Buffer.from([0xff])),
  der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
);

function distinguishedName(commonName: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(commonName)))));
}

function generalizedTime(time: Date): Buffer {
  const digits = time.toISOString().replace(/[-:T]/g, '').slice(0, 14);
  // RFC 5280 wants the two-digit form for years before 2050.
  const early = time.getUTCFullYear() < 2050;
  return der(early ? 0x17 : 0x18, Buffer.from(`${early ? digits.slice(2) : digits}Z`));
}

function alternativeName(name: string): Buffer {
  const entry = isIPv4(name)
    ? der(0x87, Buffer.from(name.split('.').map(Number)))
    : der(0x82, Buffer.from(name));
  return sequence(objectId('551d11'), der(0x04, sequence(entry)));
}
