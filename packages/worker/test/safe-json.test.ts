import { describe, expect, it } from 'vitest';
import { cutText, safeJson, storableCut, storableText } from '../src/safe-json.ts';

const circular: Record<string, unknown> = {};
circular['self'] = circular;

function nested(depth: number): unknown {
  let value: unknown[] = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

describe('safeJson', () => {
  it.each([
    ['an object', { a: 1 }, '{"a":1}'],
    ['a bigint', { n: 10n }, '{"n":"10"}'],
    ['NUL in a value', ['a\u0000b'], '["a\\\\u0000b"]'],
    ['NUL in a key', { 'k\u0000': 1 }, '{"k\\\\u0000":1}'],
    ['a lone surrogate', ['\ud800x'], '["\\\\ud800x"]'],
    ['a whole pair', ['😀'], '["😀"]'],
    ['a backslash before u0000', ['\\u0000'], '["\\\\u0000"]'],
    ['null', null, 'null'],
  ])('keeps %s', (_, value, json) => {
    expect(safeJson(value)).toEqual({ json, problem: undefined });
  });

  it('has nothing to store for undefined', () => {
    expect(safeJson(undefined).json).toBeUndefined();
  });

  it.each([
    ['a circular object', circular],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    [
      'an object whose toJSON throws',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
    ],
  ])('stores a note for %s', (_, value) => {
    const { json, problem } = safeJson(value);
    expect(problem).toBe('result_unserialisable');
    expect(JSON.parse(json ?? '')).toMatchObject({ holdfast: 'result_unserialisable' });
  });

  it.each([
    ['1e400', JSON.parse('[1e400]'), '[null]'],
    ['a bigint of 400 digits', 10n ** 400n, `"1${'0'.repeat(400)}"`],
    ['a map', new Map([[1, 2]]), '{}'],
    ['an array that is a thousand deep', nested(1_000), `${'['.repeat(1_000)}${']'.repeat(1_000)}`],
    ['brackets in a text', ['['.repeat(3_000)], `["${'['.repeat(3_000)}"]`],
    [
      'a text that ends with a backslash',
      ['\\', '['.repeat(3_000)],
      `["\\\\","${'['.repeat(3_000)}"]`,
    ],
  ])('keeps %s', (_, value, json) => {
    expect(safeJson(value)).toEqual({ json, problem: undefined });
  });

  it.each([1_001, 2_500, 20_000, 200_000])('stores a note for an array %i deep', (depth) => {
    expect(safeJson(nested(depth)).problem).toBe('result_unserialisable');
    expect(safeJson({ in: nested(depth) }).problem).toBe('result_unserialisable');
  });

  it('stores a note for what is too large', () => {
    expect(safeJson('x'.repeat(100), 50).problem).toBe('payload_too_large');
  });
});

describe('storableText', () => {
  it('shows what PostgreSQL cannot store', () => {
    expect(storableText('a\u0000\udc00b😀')).toBe('a\\u0000\\udc00b😀');
  });
});

describe('cutText', () => {
  it('cuts to the length and says so', () => {
    const cut = cutText('x'.repeat(100), 20);
    expect(cut).toHaveLength(20);
    expect(cut).toMatch(/cut\]$/);
  });
});

describe('storableCut', () => {
  it('gives storable text of the length, and says when it is cut', () => {
    expect(storableCut('a\u0000b', 20)).toBe('a\\u0000b');
    expect(storableCut('\u0000'.repeat(100), 50)).toMatch(/^(\\u0000)+.*… \[cut\]$/);
    expect(storableCut('\u0000'.repeat(100), 50)).toHaveLength(50);
    expect(storableCut('x'.repeat(50_000_000), 50)).toHaveLength(50);
  });
});
