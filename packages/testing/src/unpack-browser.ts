import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { searchPath } from './config.ts';

// Runs in a process of its own, because the package changes the environment of the one it runs in;
// the variable makes it unpack its system libraries too.
const script = (entry: string) =>
  `const { default: chromium } = await import(${JSON.stringify(entry)});
   await chromium.executablePath();`;

/**
 * Unpacks the browser that comes as an npm package, once for each account, in about two seconds.
 * Returns the folder with `chromium` in it; undefined where the package has none for the platform.
 */
export function unpackBrowser(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const folder = join(cacheFolder(entry), `chromium-${process.getuid?.() ?? 0}`);
  if (existsSync(join(folder, 'chromium'))) return folder;
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  const env = { ...searchPath(), TMPDIR: draft, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
  const flags = ['--input-type=module', '-e', script(pathToFileURL(entry).href)];
  const unpacked = spawnSync(process.execPath, flags, { env, stdio: 'ignore' });
  if (unpacked.status === 0 && !existsSync(folder)) renameSync(draft, folder);
  rmSync(draft, { recursive: true, force: true });
  return existsSync(join(folder, 'chromium')) ? folder : undefined;
}

function cacheFolder(entry: string): string {
  const modules = entry.slice(0, entry.lastIndexOf('node_modules') + 'node_modules'.length);
  const isWritable = (folder: string) => {
    try {
      accessSync(folder, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };
  const cache = join(modules, '.cache');
  const isUsable = existsSync(cache) ? isWritable(cache) : isWritable(dirname(cache));
  return isUsable ? cache : join(tmpdir(), 'holdfast-cache');
}
