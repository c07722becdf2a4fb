import { migrate, planMigrations } from '@holdfast/database';
import { readDatabaseConfig } from '../database-config.ts';
import type { Environment } from '@holdfast/runtime';

/** `holdfast migrate`: brings the schema up to date, or prints the SQL that would do it. */
export async function runMigrate(
  { isDryRun }: { readonly isDryRun: boolean },
  env: Environment,
): Promise<number> {
  const settings = readDatabaseConfig(env);
  if (isDryRun) {
    const planned = await planMigrations(settings);
    for (const { version, name, sql } of planned) {
      process.stdout.write(`-- migration ${String(version)}: ${name}\n${sql}\n`);
    }
    process.stderr.write(
      planned.length === 0
        ? 'The schema is up to date.\n'
        : `${String(planned.length)} to apply.\n`,
    );
    return 0;
  }
  const { applied, version, warnings } = await migrate(settings);
  const news = applied.length === 0 ? 'up to date' : `${String(applied.length)} applied`;
  process.stdout.write(`Migrations: ${news}; schema version ${String(version)}.\n`);
  for (const warning of warnings) process.stderr.write(`Warning: ${warning}.\n`);
  return 0;
}
