#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explainConnectionError } from '@holdfast/database';
import { exitCodeOf, exitCodes } from '@holdfast/runtime';
import { readCommandLine, usage } from './command-line.ts';
import { readConnectionSettings, readProject } from './config.ts';
import { runContractsCheck } from './run-contracts-check.ts';
import { runMigrate } from './run-migrate.ts';

const usageExitCode = 2;

// A module that ends the process must not look like a build that is ready.
let isDone = false;
process.on('exit', (code) => {
  if (isDone || code !== exitCodes.ok) return;
  process.exitCode = exitCodes.failure;
  process.stderr.write(
    'The check is not done: a module has ended the process, or waits for what never comes.\n',
  );
});

const exitCode = await run().catch((thrown: unknown) => {
  const error = explainConnectionError(thrown);
  process.stderr.write(`${sentenceOf(error)}\n`);
  return exitCodeOf(error);
});
// The modules of a build may have opened what would keep the process alive.
process.stdout.write('', () => {
  isDone = true;
  process.exit(exitCode);
});

async function run(): Promise<number> {
  const request = readCommandLine(process.argv.slice(2));
  switch (request.kind) {
    case 'help':
      process.stdout.write(usage);
      return exitCodes.ok;
    case 'version':
      process.stdout.write(`${readVersion()}\n`);
      return exitCodes.ok;
    case 'refused':
      if (request.problem !== undefined) process.stderr.write(`error: ${request.problem}\n\n`);
      process.stderr.write(usage);
      return usageExitCode;
    case 'migrate':
      process.stdout.write(
        await runMigrate(readConnectionSettings('migrate'), { ...request, warn }),
      );
      return exitCodes.ok;
    case 'contracts': {
      const settings = readConnectionSettings('contracts check');
      const project = readProject();
      const { ok, output } = await runContractsCheck(settings, { ...request, project });
      process.stdout.write(output);
      return ok ? exitCodes.ok : exitCodes.failure;
    }
  }
}

function warn(sentence: string): void {
  process.stderr.write(`Warning: ${sentence}.\n`);
}

/** The version of this package. */
function readVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '../..', 'package.json'), 'utf8');
  // Our own file, whose version npm requires to be a text.
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An error with a code speaks to people; any other one is a fault, and its stack helps.
  return 'code' in error ? error.message : (error.stack ?? error.message);
}
