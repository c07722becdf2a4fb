import { writeFileSync } from 'node:fs';
import { summaryFile } from './config.ts';
import type { Reporter, TestModule } from 'vitest/node';

/** How many tests ended well and how many did not. */
export interface TestSummary {
  readonly passedCount: number;
  /** Failed tests, and everything else that went wrong: files that do not load, stray errors. */
  readonly failedCount: number;
  readonly skippedCount: number;
}

/**
 * Ends a run with the line `N passed, N failed`, or writes the numbers as JSON to the file that
 * HOLDFAST_TEST_SUMMARY names, for a script that has more to say.
 */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const summary = summarise(modules, unhandledErrors.length);
    const file = summaryFile();
    if (file !== undefined) {
      writeFileSync(file, JSON.stringify(summary));
      return;
    }
    // Other reporters are still writing; this is to be the last line.
    process.once('exit', () => process.stdout.write(summaryLine(summary)));
  }
}

function summaryLine({ passedCount, failedCount }: TestSummary): string {
  return `${passedCount} passed, ${failedCount} failed\n`;
}

function summarise(modules: readonly TestModule[], strayErrorCount: number): TestSummary {
  const count = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  let brokenCount = 0;
  for (const module of modules) {
    const failedBefore = count.failed;
    for (const test of module.children.allTests()) count[test.result().state] += 1;
    // A hook or an import failed: the file is bad although none of its tests is.
    if (module.state() === 'failed' && count.failed === failedBefore) brokenCount += 1;
  }
  return {
    passedCount: count.passed,
    failedCount: count.failed + count.pending + brokenCount + strayErrorCount,
    skippedCount: count.skipped,
  };
}
