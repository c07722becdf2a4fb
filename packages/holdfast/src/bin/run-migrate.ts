import { migrate, planMigrations } from '@holdfast/database';
import type { ConnectionSettings } from '@holdfast/database';

/**
 * Brings the schema up to date and answers what was done, or answers the SQL that would do it; a text for standard
 * output, where a dry run is a script for psql.
 */
export async function runMigrate(
  settings: ConnectionSettings,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<string> {
  if (isDryRun) {
    const planned = await planMigrations(settings);
    const scripts = planned.map(
      ({ version, name, sql }) => `-- migration ${String(version)}: ${name}\n${sql}\n`,
    );
    return `${scripts.join('')}-- ${String(planned.length)} to apply\n`;
  }
  const { applied, version } = await migrate(settings);
  const news = applied.length === 0 ? 'up to date' : `${String(applied.length)} applied`;
  return `Migrations: ${news}; schema version ${String(version)}.\n`;
}
