import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { givenBrowserPath } from './config.ts';
import { unpackBrowser } from './unpack-browser.ts';

/** A Chromium that starts on this machine. */
export interface BrowserProgram {
  readonly path: string;
  /** Environment variables that it needs besides the usual ones. */
  readonly env: Readonly<Record<string, string>>;
}

const usualPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * The browser named by CHROMIUM_PATH, else one of the system, else the one that npm installed.
 * Undefined when none of them starts.
 */
export function findBrowser(): BrowserProgram | undefined {
  const given = givenBrowserPath();
  if (given !== undefined) return { path: given, env: {} };
  for (const path of usualPlaces) {
    const program = { path, env: {} };
    if (existsSync(path) && doesStart(program)) return program;
  }
  return fromNpm();
}

function fromNpm(): BrowserProgram | undefined {
  const folder = unpackBrowser();
  if (folder === undefined) return undefined;
  const path = join(folder, 'chromium');
  const fonts = existsSync('/etc/fonts') ? {} : { FONTCONFIG_PATH: join(folder, 'fonts') };
  // A bare system lacks libraries such as NSS; the package brings its own for that case.
  const libraries = { LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') };
  const programs = [fonts, { ...fonts, ...libraries }].map((env) => ({ path, env }));
  return programs.find(doesStart);
}

function doesStart({ path, env }: BrowserProgram): boolean {
  // Windows opens a window for --version and prints nothing.
  if (process.platform === 'win32') return true;
  const probe = spawnSync(path, ['--version'], { env, encoding: 'utf8', timeout: 30_000 });
  return probe.status === 0;
}
