import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { env as ownEnv } from 'node:process';
import type { Fence } from './markdown.ts';

/** Samples of one page share a shell: variables that one of them sets are there in the next. */
export interface ShellRun {
  readonly samples: readonly Fence[];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

const separator = '---- the next sample ----';
const patienceMs = 90_000;

/**
 * Runs the samples in one shell that stops at the first command that fails.
 *
 * @returns what each sample wrote to its standard output
 */
export async function runShell({ samples, folder, env }: ShellRun): Promise<readonly string[]> {
  const body = samples.map(({ body: text }) => text).join(`\necho '${separator}'\n`);
  const output = await run(`set -euo pipefail\n${body}\n`, { folder, env });
  return output.split(`${separator}\n`);
}

function run(
  script: string,
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const tools = join(folder, 'tools');
  writeStandIns(tools);
  return new Promise((resolve, reject) => {
    const child = execFile(
      'bash',
      ['-s'],
      {
        cwd: folder,
        env: {
          ...env,
          HOME: folder,
          PATH: `${dirname(process.execPath)}:${ownEnv['PATH'] ?? ''}:${tools}`,
        },
        timeout: patienceMs,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
      },
    );
    child.stdin?.end(script);
  });
}

/** Found only where the machine has no `jq`: the little of it that the samples use. */
function writeStandIns(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'jq');
  writeFileSync(
    file,
    `#!/usr/bin/env node
const path = process.argv.at(-1);
const value = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
const found = path.split(/[.[\\]]+/).filter(Boolean).reduce((at, key) => at?.[key], value);
console.log(typeof found === 'string' ? found : JSON.stringify(found ?? null));
`,
  );
  chmodSync(file, 0o755);
}
