import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes } from '@holdfast/domain';
import { describe, expect, it } from 'vitest';
import { problemStatuses } from '../../apps/api/src/http/problem-statuses.ts';

const page = join(import.meta.dirname, '..', '..', 'docs', 'errors.md');

describe('the catalogue of errors', () => {
  it('is written down in docs/errors.md, every code of it', () => {
    expect(existsSync(page)).toBe(true);
    const text = readFileSync(page, 'utf8');
    const missing = Object.keys(errorCodes).filter((code) => !text.includes(`\`${code}\``));
    expect(missing).toEqual([]);
  });

  it('has every code that the API answers, with a status of an error', () => {
    for (const [code, status] of Object.entries(problemStatuses)) {
      expect(errorCodes).toHaveProperty(code);
      expect(status).toBeGreaterThanOrEqual(400);
    }
  });

  it('is sorted, so that a code is found', () => {
    const codes = Object.keys(errorCodes);
    expect(codes).toEqual([...codes].sort());
  });
});
