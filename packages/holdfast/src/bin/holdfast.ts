#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { exitCodeOf, exitCodes } from '@holdfast/runtime';
import { readConnectionSettings } from './config.ts';
import { runMigrate } from './run-migrate.ts';

const usage = `Usage: holdfast migrate [--dry-run]

Brings the tables of Holdfast in the database up to date, or prints the SQL that would do it.

  DATABASE_URL     where the database is: postgres://user:password@host:5432/name
  HOLDFAST_SCHEMA  the schema of the tables, if it is not holdfast
`;

process.exitCode = await run().catch((error: unknown) => {
  process.stderr.write(`${sentenceOf(error)}\n`);
  return exitCodeOf(error);
});

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return exitCodes.ok;
  }
  if (positionals.join(' ') !== 'migrate') {
    process.stderr.write(usage);
    return exitCodes.failure;
  }
  const news = await runMigrate(readConnectionSettings(), { isDryRun: values['dry-run'] === true });
  process.stdout.write(news);
  return exitCodes.ok;
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An error with a code speaks to people; any other one is a fault, and its stack helps.
  return 'code' in error ? error.message : (error.stack ?? error.message);
}
