import { PayloadInvalidError, PayloadTooLargeError, payloadJson } from '@holdfast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const type = 'mail.send';

function issueOf(value: unknown): string {
  try {
    payloadJson(value, { type });
  } catch (error) {
    if (!(error instanceof PayloadInvalidError)) throw error;
    return error.issues.map(({ pointer, message }) => `${pointer} ${message}`).join('\n');
  }
  return 'accepted';
}

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

const circular: Record<string, unknown> = { name: 'ring' };
circular['self'] = { again: circular };

describe('a payload that JSON cannot hold', () => {
  it.each([
    ['a BigInt', { total: 10n }, '/total is a BigInt'],
    ['a function', { a: [1, () => 2] }, '/a/1 is a function'],
    ['a symbol', Symbol('x'), ' is a symbol'],
    ['NaN', { 'a/b': { '~': NaN } }, '/a~1b/~0 is NaN'],
    ['infinity', [Infinity], '/0 is Infinity'],
    ['a hole in a list', [undefined], '/0 is undefined'],
    ['a map', { map: new Map([[1, 2]]) }, '/map is a Map'],
    ['a promise that was not awaited', { user: Promise.resolve(1) }, '/user is a Promise'],
    ['an error', new Error('x'), ' is a Error'],
    ['bytes', { bytes: new Uint8Array(2) }, '/bytes is a Uint8Array'],
    ['an invalid date', { at: new Date(NaN) }, '/at is an invalid date'],
    ['a circle', circular, '/self/again refers to itself'],
    ['a NUL character', { text: 'a\0b' }, '/text has a NUL'],
    ['a lone surrogate', ['\ud800'], '/0 has a lone surrogate'],
    ['a key with a NUL character', { 'a\0': 1 }, '/a\0 has a NUL'],
    ['a prototype as a key', JSON.parse('{"__proto__":1}'), '/__proto__ is not allowed'],
    ['too many levels', nested(65), ' is nested deeper than 64'],
    [
      'too many keys',
      Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [n, n])),
      ' has more than 10000 keys',
    ],
    [
      'a getter that throws',
      {
        get name() {
          throw new Error('closed');
        },
      },
      ' could not be read',
    ],
  ])('is refused for %s, with the place', (_name, value, issue) => {
    expect(issueOf(value)).toContain(issue);
  });

  it('is refused when it has more bytes than the limit', () => {
    const options = { type, limitBytes: 10 };
    expect(payloadJson('12345678', options).json).toHaveLength(10);
    expect(() => payloadJson('123456789', options)).toThrow(PayloadTooLargeError);
    expect(() => payloadJson('äääää', options)).toThrow(PayloadTooLargeError);
  });
});

describe('a payload that JSON can hold', () => {
  it('is written as it is', () => {
    fc.assert(
      fc.property(
        fc
          .jsonValue({ maxDepth: 5, stringUnit: 'grapheme' })
          .filter((value) => issueOf(value) === 'accepted'),
        (value) => {
          expect(payloadJson(value, { type })).toEqual({
            json: JSON.stringify(value),
            isExact: true,
          });
        },
      ),
    );
  });

  it('tells whether reading it gives the same', () => {
    const at = new Date(0);
    expect(payloadJson({ at }, { type })).toEqual({
      json: '{"at":"1970-01-01T00:00:00.000Z"}',
      isExact: false,
    });
    expect(payloadJson({ note: undefined }, { type })).toEqual({ json: '{}', isExact: false });
    expect(payloadJson(undefined, { type })).toEqual({ json: '{}', isExact: false });
    expect(payloadJson(null, { type })).toEqual({ json: 'null', isExact: true });
  });

  it('may have the same object twice', () => {
    const address = { city: 'Ulm' };
    expect(issueOf({ from: address, to: address })).toBe('accepted');
  });
});
