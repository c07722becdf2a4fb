import { findBrowser } from './find-browser.ts';
import { isContinuousIntegration, publishBrowser } from './config.ts';

/**
 * Vitest's global setup of the browser tests: finds a browser once for all of them. Without one the
 * tests are skipped with a loud line on a person's machine, and fail where CI is set.
 */
export function setup(): void {
  const browser = findBrowser();
  if (browser !== undefined) {
    publishBrowser(browser);
    return;
  }
  const message =
    'No browser was found: set CHROMIUM_PATH, or install chromium. The browser tests need one.';
  if (isContinuousIntegration()) throw new Error(message);
  process.stderr.write(`\n*** ${message} They are SKIPPED. ***\n\n`);
}
