import { describe, expect, it } from 'vitest';
import { initiallyCollapsed, jsonLines } from '../src/ui/json/json-lines.ts';
import { parseJson } from '../src/ui/json/parse-json.ts';

function texts(value: unknown, collapsed: readonly string[] = []): readonly string[] {
  return jsonLines(value, new Set(collapsed)).map(
    ({ depth, key, text }) => `${'  '.repeat(depth)}${key === undefined ? '' : `${key}: `}${text}`,
  );
}

describe('JSON as lines', () => {
  it('writes every kind of value', () => {
    const value = { text: 'a "b"', number: 1.5, yes: true, nothing: null, empty: [], list: [1] };
    expect(texts(value)).toEqual([
      '{',
      '  text: "a \\"b\\""',
      '  number: 1.5',
      '  yes: true',
      '  nothing: null',
      '  empty: []',
      '  list: [',
      '    0: 1',
      '  ]',
      '}',
    ]);
  });

  it('writes a closed branch as one line', () => {
    expect(texts({ list: [1, 2] }, ['/list'])).toEqual(['{', '  list: [ 2 items ]', '}']);
  });

  it('keeps a huge value short', () => {
    const huge = Array.from({ length: 100_000 }, (_, index) => ({ index }));
    expect(jsonLines(huge, initiallyCollapsed(huge)).length).toBeLessThan(1_000);
    expect(texts('x'.repeat(50_000))[0]?.length).toBeLessThan(3_000);
  });

  it('gives each line a path of its own', () => {
    const lines = jsonLines({ a: { end: 1 }, end: [] }, new Set());
    expect(new Set(lines.map(({ path }) => path)).size).toBe(lines.length);
  });
});

describe('JSON as it is typed', () => {
  it('takes nothing as no value', () => {
    expect(parseJson(' \n')).toEqual({ ok: true, value: undefined });
  });

  it('says what is wrong', () => {
    expect(parseJson('{"a":')).toMatchObject({
      ok: false,
      message: expect.stringContaining('This is not JSON') as string,
    });
  });
});
