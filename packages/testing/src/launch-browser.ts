import { chromium } from 'playwright-core';
import { publishedBrowser } from './config.ts';
import type { Browser } from 'playwright-core';

/** True when there is a browser for the tests; use it as `describe.runIf(hasBrowser())`. */
export function hasBrowser(): boolean {
  return publishedBrowser() !== undefined;
}

/** Starts the browser that the setup of the browser tests found. */
export function launchBrowser(): Promise<Browser> {
  const browser = publishedBrowser();
  if (browser === undefined) {
    throw new Error(
      'No browser: this test must run in the e2e project, inside runIf(hasBrowser())',
    );
  }
  return chromium.launch({
    executablePath: browser.path,
    env: { ...browser.env },
    // Root cannot use the sandbox, and /dev/shm is small in containers.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
