import { findProject, insertSchedule } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type { Database, ScheduleSettings } from '@holdfast/database';

/** The id of the project that every database has. */
export async function defaultProjectId(database: Database): Promise<string> {
  const project = await findProject(database, 'default');
  if (project === undefined) throw new Error('The database has no default project');
  return project.id;
}

/** From one instant of a schedule of {@link makeSchedule} to the next: longer than any test. */
export const schedulePeriodMs = 3_600_000;

/**
 * Stores a schedule with one instant each hour, of which the next to be fired is `nextFireAt`: unless given, one that has just
 * passed, so that there is one due instant and no second one while the test runs.
 */
export async function makeSchedule(
  database: Database,
  options: Partial<ScheduleSettings> & { readonly name: string },
): Promise<{ readonly projectId: string; readonly id: string }> {
  const { name, nextFireAt = justPassed(), ...settings } = options;
  const projectId = await defaultProjectId(database);
  const id = uuidV7(Date.now());
  await insertSchedule(database, {
    projectId,
    id,
    name,
    settings: {
      timing: { everyMs: schedulePeriodMs, anchorAt: nextFireAt, timezone: 'UTC' },
      job: { type: 'report', queue: 'reports', payload: { name } },
      catchUp: 'latest',
      catchUpWindowMs: 3_600_000,
      overlap: 'skip',
      nextFireAt,
      ...settings,
    },
  });
  return { projectId, id };
}

/** An instant that has just passed, by the clock of this machine, which is the database's too. */
export function justPassed(): Date {
  return new Date(Date.now() - 1);
}
