import { findProject, insertSchedule } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import type { Database, ScheduleSettings } from '@holdfast/database';

/** The id of the project that every database has. */
export async function defaultProjectId(database: Database): Promise<string> {
  const project = await findProject(database, 'default');
  if (project === undefined) throw new Error('The database has no default project');
  return project.id;
}

/** Stores a schedule that is due since `dueForMs` ago by the clock of this machine, which is the database's too. */
export async function makeSchedule(
  database: Database,
  options: Partial<ScheduleSettings> & { readonly name: string },
): Promise<{ readonly projectId: string; readonly id: string }> {
  const { name, ...settings } = options;
  const projectId = await defaultProjectId(database);
  const id = uuidV7(Date.now());
  await insertSchedule(database, {
    projectId,
    id,
    name,
    settings: {
      timing: { cron: '* * * * *', timezone: 'UTC' },
      job: { type: 'report', queue: 'reports', payload: { name } },
      catchUp: 'latest',
      catchUpWindowMs: 3_600_000,
      overlap: 'skip',
      nextFireAt: lastMinute(),
      ...settings,
    },
  });
  return { projectId, id };
}

/** The last full minute: an instant of `* * * * *` that has just passed. */
export function lastMinute(): Date {
  return new Date(Math.floor(Date.now() / 60_000) * 60_000);
}
