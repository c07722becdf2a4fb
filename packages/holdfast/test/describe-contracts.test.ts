import { defineJob } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeContract } from '../src/describe-contracts.ts';
import type { StandardSchema } from '../src/standard-schema.ts';

const contractOf = (payload: StandardSchema) => describeContract(defineJob({ type: 'a', payload }));

/** A schema whose library writes it so. */
function written(input: () => unknown): StandardSchema {
  const validate = (value: unknown) => ({ value });
  return { '~standard': { version: 1, vendor: 'test', validate, jsonSchema: { input } } };
}

describe('the contract of a definition', () => {
  it('is the same whatever the order in which its schema names the properties', () => {
    const first = contractOf(z.object({ a: z.string(), b: z.object({ c: z.int(), d: z.int() }) }));
    const second = contractOf(z.object({ b: z.object({ d: z.int(), c: z.int() }), a: z.string() }));
    expect(first.fingerprint).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toEqual(first);
  });

  it('is another one when a property may be left out', () => {
    const { fingerprint } = contractOf(z.object({ required: z.string() }));
    const optional = contractOf(z.object({ required: z.string().optional() }));
    expect(optional.fingerprint).not.toBe(fingerprint);
  });

  it('has what is large, is called as a prototype is, or only speaks of what cannot be stored', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`property${String(index)}`, {}]),
    );
    const pattern = String.raw`^[^\0\u0000\ud800]*$`;
    const schema = { properties: { ...properties, ['__proto__']: { pattern } } };
    const { schemaJson = '' } = contractOf(written(() => schema));
    expect(JSON.parse(schemaJson)).toEqual(schema);
  });

  it.each<[string, () => unknown]>([
    ['a NUL character', () => ({ const: 'a\0b' })],
    ['a lone surrogate', () => ({ properties: { '\ud800': {} } })],
    ['a getter that throws', () => Object.defineProperty({}, 'type', { enumerable: true, get })],
    ['no object', () => true],
  ])('has no JSON Schema where that has %s', (_, write) => {
    expect(contractOf(written(write))).toEqual({ type: 'a', version: 1 });
  });
});

function get(): never {
  throw new RangeError('nothing to see');
}
