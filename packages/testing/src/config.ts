import type { BrowserProgram } from './find-browser.ts';

const browserName = 'HOLDFAST_TEST_BROWSER';
const adminUrlName = 'HOLDFAST_TEST_DATABASE_URL';
const templateName = 'HOLDFAST_TEST_TEMPLATE';

/** Where the test reporter puts its numbers, when somebody asked for a file. */
export function summaryFile(): string | undefined {
  return process.env['HOLDFAST_TEST_SUMMARY'];
}

/** The server that this run's tests share, connected to as a superuser; undefined before it starts. */
export function adminUrl(): string | undefined {
  return process.env[adminUrlName];
}

/** The migrated database of this run that test databases are copied from. */
export function templateDatabase(): string | undefined {
  return process.env[templateName];
}

/** Makes the shared server known to the test processes, which inherit the environment. */
export function publishAdminUrl(url: string): void {
  process.env[adminUrlName] = url;
}

/** Makes the template known to the test processes. */
export function publishTemplate(name: string): void {
  process.env[templateName] = name;
}

/** The PATH of this process, for processes that are started with an environment of their own. */
export function searchPath(): Record<string, string> {
  const path = process.env['PATH'];
  return path === undefined ? {} : { PATH: path };
}

/** The browser that a person chose. */
export function givenBrowserPath(): string | undefined {
  return process.env['CHROMIUM_PATH'] === '' ? undefined : process.env['CHROMIUM_PATH'];
}

/** Whether nothing may be skipped. */
export function isContinuousIntegration(): boolean {
  return !['', 'false', '0', undefined].includes(process.env['CI']);
}

/** Makes the browser known to the test processes. */
export function publishBrowser(browser: BrowserProgram): void {
  process.env[browserName] = JSON.stringify(browser);
}

/** The browser that the setup found, if any. */
export function publishedBrowser(): BrowserProgram | undefined {
  const text = process.env[browserName];
  // Written by `publishBrowser` in the parent process.
  return text === undefined ? undefined : (JSON.parse(text) as BrowserProgram);
}
