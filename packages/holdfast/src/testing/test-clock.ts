import { advanceSchedule, lockDueSchedules, nextFireInMs, readClock } from '@holdfast/database';
import { passTime } from '@holdfast/database/time-travel';
import { HoldfastError } from '@holdfast/domain';
import { fireDueSchedules } from '@holdfast/scheduler';
import type { OpenConnection } from '../connection.ts';
import { nextFireOf } from '../schedule-settings.ts';

const fireLimit = 10_000;
const pageSize = 1_000;

/**
 * The time of a test's database. What is stored of jobs is moved back, so that they are due by the server's own clock.
 * Schedules are bound to the calendar and stay; they are held against a clock that is ahead of the server's instead.
 */
export class TestClock {
  #aheadMs = 0;
  /** Up to where schedules have fired, by the clock that is ahead; `undefined` before the first advance. */
  #reachedAt: Date | undefined;

  /** Lets time pass, as if a scheduler had run all the while and no worker. */
  async advance(open: OpenConnection, passedMs: number): Promise<void> {
    const { database, notifier } = open;
    await this.fireSchedules(open);
    await passTime(database, passedMs);
    this.#aheadMs += passedMs;
    const reachedAt = await this.#now(open);
    await this.fireSchedules(open);
    this.#reachedAt = reachedAt;
    notifier.wakeSchedulers();
  }

  /** Fires every schedule at each of its instants up to now, one after the other. */
  async fireSchedules(open: OpenConnection): Promise<void> {
    const { database } = open;
    await this.#passOver(open);
    for (let count = 0; count < fireLimit; count += 1) {
      const dueInMs = await nextFireInMs(database);
      if (dueInMs === undefined || dueInMs > this.#aheadMs) return;
      // The clock of each instant is that instant, so that none is late.
      await fireDueSchedules(database, { aheadMs: Math.min(dueInMs + 1, this.#aheadMs) });
    }
    throw new HoldfastError(
      `Schedules have more than ${String(fireLimit)} instants in this time; advance in smaller steps`,
      { code: 'advance_too_far' },
    );
  }

  /** What was scheduled after an advance was counted from the server's clock: its first instants are over. */
  async #passOver({ database }: OpenConnection): Promise<void> {
    const reachedAt = this.#reachedAt;
    if (reachedAt === undefined) return;
    await database.transaction(async (tx) => {
      const nowMs = (await readClock(tx)).getTime();
      const now = new Date(nowMs + this.#aheadMs);
      for (const schedule of await lockDueSchedules(tx, pageSize, reachedAt.getTime() - nowMs)) {
        const { id, projectId, timing } = schedule;
        await advanceSchedule(tx, { id, projectId, nextFireAt: nextFireOf(timing, now) });
      }
    });
  }

  async #now({ database }: OpenConnection): Promise<Date> {
    return new Date((await readClock(database)).getTime() + this.#aheadMs);
  }
}
