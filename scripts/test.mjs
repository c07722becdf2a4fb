/**
 * `npm test -- [options of vitest]`: all tests, in the order unit, database, adapters, contract, chaos, docs,
 * packaging, e2e.
 * Ends with the line `N passed, N failed` and exits 1 unless every test passed.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-summary-'));
const summaryFile = join(folder, 'summary.json');

const exitCode = await runVitest();
const { passedCount, failedCount, skippedCount } = readSummary();
rmSync(folder, { recursive: true });

if (skippedCount > 0) console.log(`${skippedCount} skipped`);
console.log(`${passedCount} passed, ${failedCount} failed`);
process.exitCode = exitCode === 0 && failedCount === 0 && passedCount > 0 ? 0 : 1;

function runVitest() {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', ...process.argv.slice(2)], {
    cwd: root,
    env: { ...testEnvironment(), HOLDFAST_TEST_SUMMARY: summaryFile },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

/** The caller's environment without the settings of a Holdfast that may run here. */
function testEnvironment() {
  const isForeign = (name) =>
    name === 'DATABASE_URL' || (/^HOLDFAST_/.test(name) && !/^HOLDFAST_TEST_/.test(name));
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isForeign(name)));
}

/** A run that wrote no summary did not get to its end, which counts as one failure. */
function readSummary() {
  try {
    return JSON.parse(readFileSync(summaryFile, 'utf8'));
  } catch {
    return { passedCount: 0, failedCount: 1, skippedCount: 0 };
  }
}
