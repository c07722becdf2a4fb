import { expect, it } from 'vitest';
import { describeReport } from '../src/contracts/contract-report.ts';
import type { Refusal } from '../src/contracts/contract-report.ts';

function refusalLineOf(refusal: Pick<Refusal, 'reason' | 'path' | 'error'>): string | undefined {
  const report = describeReport({
    ok: false,
    versions: [
      {
        ...{ type: 'a', version: 1, isDefined: true, hasOtherSchema: false },
        ...{ waiting: 1, read: 1, taken: 0 },
        refusals: [{ ...refusal, count: 1, jobId: 'j' }],
      },
    ],
  });
  const lines = report.split('\n');
  expect(lines).toHaveLength(4);
  return lines[1];
}

it('keys of records neither end a line of the report nor speak to the terminal', () => {
  const path = '/to\n::error::\u001b[2J\u2028\u202e\ud800/ä';
  expect(refusalLineOf({ reason: 'schema_refused', path })).toBe(
    String.raw`  1: the schema refuses /to\u{a}::error::\u{1b}[2J\u{2028}\u{202e}\u{d800}/ä, such as of job j`,
  );
  expect(refusalLineOf({ reason: 'schema_failed', error: 'E\r' })).toContain(
    String.raw`threw E\u{d}, such`,
  );
});

it('long keys of records are cut', () => {
  const line = refusalLineOf({ reason: 'schema_refused', path: `/${'k'.repeat(1_000_000)}` });
  expect(line).toBe(`  1: the schema refuses /${'k'.repeat(199)}…, such as of job j`);
});
