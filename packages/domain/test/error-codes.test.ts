import { errorCodes } from '@holdfast/domain';
import { describe, expect, it } from 'vitest';

const entries = Object.entries(errorCodes);

describe('the catalogue of errors', () => {
  it.each(entries)('%s is snake_case and says a sentence', (code, meaning) => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
  });

  it('is sorted', () => {
    const codes = entries.map(([code]) => code);
    expect(codes).toEqual([...codes].sort());
  });
});
