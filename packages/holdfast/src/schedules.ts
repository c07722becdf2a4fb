import {
  deleteSchedule,
  insertSchedule,
  listSchedules,
  pauseSchedule,
  readClock,
  resolveQueues,
  resumeSchedule,
  runSchedule,
  updateSchedule,
} from '@holdfast/database';
import type { ScheduleView } from '@holdfast/database';
import { HoldfastError, uuidV7 } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { OptionCheck, requireName } from './check-options.ts';
import type { OpenConnection } from './connection.ts';
import type { Internals } from './internals.ts';
import { nextFireOf, readScheduleInput, settingsOf } from './schedule-settings.ts';
import type { ScheduleInput } from './schedule-settings.ts';
import { toScheduleInfo } from './schedule-info.ts';
import type { ScheduleInfo } from './schedule-info.ts';
import { callWith } from './shown.ts';

const pageSize = 200;

/**
 * The schedules of a project. They fire while a worker with `maintenance` runs, which is the default, or a scheduler
 * process of Holdfast.
 */
export class Schedules {
  readonly #internals: Internals;

  constructor(internals: Internals) {
    this.#internals = internals;
  }

  /**
   * Makes a schedule, or changes the one with this name to exactly what is given. A new time never fires for the past;
   * an upsert that changes nothing, as at each start of a process, changes nothing.
   *
   * @throws OptionsInvalidError, CronInvalidError, TimezoneInvalidError, PayloadInvalidError
   */
  async upsert(input: ScheduleInput): Promise<ScheduleInfo> {
    const read = await readScheduleInput(input, this.#internals.writer.limitBytes);
    return this.#internals.connection.useWithRetry(async (open) => {
      const { database, projectId, notifier } = open;
      const now = await readClock(database);
      const before = await this.#find(open, input.name);
      const settings = settingsOf(read, { before, now });
      if (before === undefined) {
        const id = uuidV7(systemClock.nowMs());
        await insertSchedule(database, { projectId, id, name: input.name, settings });
      } else {
        await updateSchedule(database, { projectId, id: before.id, settings });
      }
      notifier.wakeSchedulers();
      return toScheduleInfo(await this.#require(open, input.name));
    });
  }

  /**
   * Pauses a schedule; instants that pass meanwhile are recorded as skipped.
   *
   * @throws HoldfastError `schedule_not_found`; OptionsInvalidError
   */
  async pause(
    name: string,
    options: { readonly reason?: string | undefined; readonly by?: string | undefined } = {},
  ): Promise<void> {
    const check = new OptionCheck(callWith('schedules.pause', name));
    check.name('the name', name);
    if (!check.names(options, ['reason', 'by'])) check.done();
    check.words('reason', options.reason);
    check.words('by', options.by);
    check.done();
    await this.#internals.connection.useWithRetry(async (open) => {
      const { id } = await this.#require(open, name);
      const { reason, by = 'sdk' } = options;
      await pauseSchedule(open.database, { projectId: open.projectId, id, by, reason });
    });
  }

  /** Ends a pause; the next instant is after now. @throws HoldfastError `schedule_not_found`; OptionsInvalidError */
  async resume(name: string): Promise<void> {
    requireName('schedules.resume', name);
    await this.#internals.connection.useWithRetry(async (open) => {
      const { id, timing } = await this.#require(open, name);
      const nextFireAt = nextFireOf(timing, await readClock(open.database));
      await resumeSchedule(open.database, { projectId: open.projectId, id, nextFireAt });
      open.notifier.wakeSchedulers();
    });
  }

  /** Removes a schedule; its jobs stay. Answers whether there was one. @throws OptionsInvalidError */
  async delete(name: string): Promise<boolean> {
    requireName('schedules.delete', name);
    return this.#internals.connection.useWithRetry(async (open) => {
      const schedule = await this.#find(open, name);
      if (schedule === undefined) return false;
      return deleteSchedule(open.database, { projectId: open.projectId, id: schedule.id });
    });
  }

  /**
   * Makes the job of a schedule now, beside its due instants.
   *
   * @throws HoldfastError `schedule_not_found`; OptionsInvalidError
   */
  async runNow(name: string): Promise<{ readonly jobId: string }> {
    requireName('schedules.runNow', name);
    return this.#internals.connection.useOnce(async (open) => {
      const { database, projectId, notifier } = open;
      const schedule = await this.#require(open, name);
      const queues = await resolveQueues(database, projectId, [schedule.job.queue]);
      const run = await database.transaction((tx) =>
        runSchedule(database, { schedule, queues, tx }),
      );
      if (run === undefined) {
        throw new HoldfastError('Too many runs at once', { code: 'overloaded' });
      }
      notifier.wakeQueues(run.enqueued.queueIds);
      return { jobId: run.jobId };
    });
  }

  /** Reads a schedule. @throws HoldfastError `schedule_not_found`; OptionsInvalidError */
  async get(name: string): Promise<ScheduleInfo> {
    requireName('schedules.get', name);
    return this.#internals.connection.useWithRetry(async (open) =>
      toScheduleInfo(await this.#require(open, name)),
    );
  }

  /** Every schedule of the project, by name. */
  list(): Promise<readonly ScheduleInfo[]> {
    return this.#internals.connection.useWithRetry(async ({ database, projectId }) => {
      const found: ScheduleInfo[] = [];
      for (let afterName: string | undefined; ; afterName = found.at(-1)?.name) {
        const page = await listSchedules(database, { projectId, afterName, limit: pageSize });
        found.push(...page.map(toScheduleInfo));
        if (page.length < pageSize) return found;
      }
    });
  }

  async #require(open: OpenConnection, name: string): Promise<ScheduleView> {
    const schedule = await this.#find(open, name);
    if (schedule !== undefined) return schedule;
    throw new HoldfastError(`There is no schedule "${name}"`, { code: 'schedule_not_found' });
  }

  async #find(
    { database, projectId }: OpenConnection,
    name: string,
  ): Promise<ScheduleView | undefined> {
    for (let afterName: string | undefined; ;) {
      const page = await listSchedules(database, { projectId, afterName, limit: pageSize });
      const found = page.find((schedule) => schedule.name === name);
      if (found !== undefined || page.length < pageSize) return found;
      afterName = page.at(-1)?.name;
    }
  }
}
