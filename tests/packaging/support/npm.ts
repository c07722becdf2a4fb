import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { env as ownEnvironment } from 'node:process';

/** Runs npm in a folder as a person would, and gives what it wrote to its standard output. */
export function runNpm(args: readonly string[], cwd: string): Promise<string> {
  const script = ownEnvironment['npm_execpath'];
  const isNpm = script !== undefined && basename(script) === 'npm-cli.js';
  const [command, before] = isNpm ? [process.execPath, [script]] : ['npm', []];
  return run(command, [...before, ...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    env: npmEnvironment(),
  });
}

/** Runs a script of an installed package, or fails with what it wrote. */
export function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { ...options, maxBuffer: 64 * 1_024 * 1_024 }, (error, out, err) => {
      if (error === null) resolve(out);
      else reject(new Error(`${error.message}\n${out}\n${err}`, { cause: error }));
    });
  });
}

/** What npm told the scripts of this run is about another folder; where the registry is stays. */
function npmEnvironment(): NodeJS.ProcessEnv {
  const isOfThisRun = (name: string): boolean =>
    /^(npm_(package|lifecycle|config_local_prefix|config_prefix)|INIT_CWD$)/.test(name);
  const kept = Object.entries(ownEnvironment).filter(([name]) => !isOfThisRun(name));
  const cache = canWrite(homedir()) ? {} : { npm_config_cache: join(tmpdir(), 'holdfast-npm') };
  return { ...Object.fromEntries(kept), ...cache };
}

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
