import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpProblem } from '../src/http/problem.ts';
import { scanJson } from '../src/http/scan-json.ts';

function refusalOf(text: string): string | undefined {
  try {
    scanJson(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    return `${error.code} ${error.options.errors?.[0]?.pointer ?? ''}`;
  }
}

const harmlessText = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
const harmless = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
    harmlessText,
    fc.array(tie('value')),
    fc.dictionary(
      harmlessText.filter((key) => key !== '__proto__'),
      tie('value'),
    ),
  ),
})).value;

describe('scanning JSON', () => {
  it('lets through whatever is harmless, however it is spaced', () => {
    fc.assert(
      fc.property(harmless, fc.constantFrom(0, 1, 4), (value, indent) => {
        fc.pre(!hasUnsafeInteger(value));
        expect(refusalOf(JSON.stringify(value, null, indent))).toBeUndefined();
      }),
    );
  });

  it('points at the offence wherever it is', () => {
    fc.assert(
      fc.property(
        fc.array(
          harmlessText.filter((key) => key !== '__proto__'),
          { maxLength: 10 },
        ),
        (path) => {
          const pointer = path
            .map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`)
            .join('');
          const text = path.reduceRight(
            (inner, key) => `{${JSON.stringify(key)}:${inner}}`,
            '1e999',
          );
          expect(refusalOf(text)).toBe(`number_not_exact ${pointer}`);
        },
      ),
    );
  });

  it('never fails on text that is no JSON', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...Array.from('{}[],:"\\u0-1e.atrue \n')) }),
        (text) => {
          refusalOf(text);
        },
      ),
    );
  });

  it('keeps its place after strings that look like structure', () => {
    expect(refusalOf('{"a":"}],{","b":[1,"\\"",-0]}')).toBe('number_not_exact /b/2');
    expect(refusalOf('{"a":{"x":1},"b":{"x":1,"x":2}}')).toBe('validation_failed /b/x');
    expect(refusalOf('[{"x":1},{"x":1}]')).toBeUndefined();
  });

  it('takes time in proportion to the text', () => {
    const text = `[${'"\\\\",'.repeat(40_000)}1]`;
    expect(refusalOf(text)).toBeUndefined();
  });
});

function hasUnsafeInteger(value: unknown): boolean {
  return /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/.test(JSON.stringify(value));
}
