import { migrate, planMigrations } from '@holdfast/database';
import type { ConnectionSettings } from '@holdfast/database';

/**
 * Brings the schema up to date and answers what was done, or answers the SQL that would do it; a text for standard
 * output, where a dry run is a script for psql.
 */
export async function runMigrate(
  settings: ConnectionSettings,
  { isDryRun, warn }: { readonly isDryRun: boolean; readonly warn: (sentence: string) => void },
): Promise<string> {
  if (isDryRun) {
    const planned = await planMigrations(settings);
    const scripts = planned.map(
      ({ version, name, sql }) => `-- migration ${String(version)}: ${name}\n${sql}\n`,
    );
    return `${scripts.join('')}-- ${String(planned.length)} to apply\n`;
  }
  const { applied, version, warnings } = await migrate(settings);
  for (const warning of warnings) warn(warning);
  const news = applied.length === 0 ? 'up to date' : `${String(applied.length)} applied`;
  return `Migrations: ${news}; schema version ${String(version)}.\n`;
}
