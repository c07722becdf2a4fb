import { launchBrowser, waitFor } from '@holdfast/testing';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, onTestFailed } from 'vitest';
import { startStack } from './stack.ts';
import type { Stack } from './stack.ts';

/** A page in a browser profile of its own, and everything that it complained about. */
export interface Visit {
  readonly page: Page;
  /** Errors of scripts and violations of the content security policy. */
  readonly complaints: readonly string[];
}

/** The stack and the browser of one test file. */
export interface Bench {
  readonly stack: () => Stack;
  /** Opens a page that is signed in by a one-time link and shows the path. */
  visit(path: string, options?: BrowserContextOptions & { readonly as?: string }): Promise<Visit>;
  /** Opens a page that is not signed in. */
  visitSignedOut(url: string): Promise<Visit>;
}

// What a refused request or a page without a session writes; the tests look at the page instead.
const expectedComplaint = /status of (401|409|422)/;

async function openPage(browser: Browser, options: BrowserContextOptions): Promise<Visit> {
  const context = await browser.newContext({
    locale: 'en-GB',
    timezoneId: 'UTC',
    viewport: { width: 1360, height: 900 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(45_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !expectedComplaint.test(text)) complaints.push(text);
  });
  onTestFailed(() => {
    console.error(`page: ${page.url()}\n${complaints.join('\n')}`);
  });
  return { page, complaints };
}

/** Starts one stack and one browser for a file; each test gets pages of its own. */
export function useBench(): Bench {
  let stack: Stack | undefined;
  let browser: Browser | undefined;
  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('The bench has not started');
    return value;
  };

  beforeAll(async () => {
    [stack, browser] = await Promise.all([startStack(), launchBrowser()]);
  }, 120_000);
  afterEach(async () => {
    await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
  });

  return {
    stack: () => started(stack),
    async visit(path, { as, ...options } = {}) {
      const visit = await openPage(started(browser), options);
      const { page } = visit;
      await page.goto(await started(stack).signInLink(as));
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      if (path !== '/') await page.goto(started(stack).url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      return visit;
    },
    async visitSignedOut(url) {
      const visit = await openPage(started(browser), {});
      await visit.page.goto(url);
      return visit;
    },
  };
}

/** Waits until the heading of a job's page says that the job has this status. */
export async function seeStatus(page: Page, status: string): Promise<void> {
  const heading = page.getByRole('main').locator('header').first();
  await heading.getByText(status, { exact: true }).waitFor();
}

/** Presses a button and then the one of the same meaning in the dialog that it opens. */
export async function confirm(page: Page, opener: string, confirmation: string): Promise<void> {
  await page.getByRole('button', { name: opener, exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: confirmation, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

/** Waits until a question to the API has this answer. */
export async function eventually<T>(name: string, ask: () => Promise<T>, wanted: T): Promise<void> {
  await waitFor(name, async () => {
    expect(await ask()).toEqual(wanted);
    return true;
  });
}
