import { listEvents, subscribe } from '@holdfast/database';
import type { StoredEvent } from '@holdfast/database';
import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { ask } from './support/records.ts';
import { supervise, untilDied } from './support/supervise.ts';
import { useArena } from './support/use-arena.ts';

const jobCount = 3_000;
const killCount = 12;

const arena = useArena();

it('tells every event once and in order while one of two dispatchers after the other is killed', async () => {
  const { database, projectId } = arena();
  const listener = { type: 'quick', queue: 'listeners' };
  await subscribe(database, { projectId, event: 'JobProcessed', job: listener });
  const schedulers = [1, 2].map(() => supervise(() => arena().startScheduler()));
  await arena().startWorker();
  const reader = readAlong();
  for (let kill = 1; kill <= killCount; kill += 1) {
    const slice = Array.from({ length: jobCount / killCount }, () => ({ type: 'quick' }));
    await arena().enqueue(slice);
    const toldCount = (kill - 1) * slice.length + 1;
    await waitFor(`${toldCount} events have been told`, () => reader.events.length >= toldCount, {
      timeoutMs: 60_000,
    });
    const inTurn = kill % 2 === 0 ? schedulers : [...schedulers].reverse();
    await waitFor('a dispatcher is there to be killed', () => inTurn.some((each) => each.kill()));
  }
  await waitFor('every event has been told', () => reader.events.length >= jobCount, {
    timeoutMs: 60_000,
  });
  await arena().untilQuiet();
  await reader.stop();
  expect(await untilDied(schedulers, killCount)).toBe(killCount);
  for (const scheduler of schedulers) await scheduler.stop();

  const ids = reader.events.map(({ id }) => id);
  expect(new Set(ids).size).toBe(jobCount);
  expect(ids).toHaveLength(jobCount);
  const positions = reader.events.map(({ position }) => Number(position));
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  expect(await listenedIds()).toEqual([...ids].sort());
});

/** The events that listeners' jobs were made for, one for each job. */
async function listenedIds(): Promise<readonly string[]> {
  const sql = 'select event_id as id from holdfast.all_jobs where event_id is not null';
  const rows = await ask<{ readonly id: string }>(arena().database, sql);
  return rows.map(({ id }) => id).sort();
}

/** Reads the events page by page while they come, as somebody does who remembers a position. */
function readAlong() {
  const { database, projectId } = arena();
  const events: StoredEvent[] = [];
  let isStopping = false;
  const run = async (): Promise<void> => {
    let after = '0';
    while (!isStopping) {
      const page = await listEvents(database, { projectId, after, limit: 50 });
      events.push(...page.events);
      after = page.nextAfter;
    }
  };
  const ended = run();
  return {
    events: events as readonly StoredEvent[],
    stop: async () => {
      isStopping = true;
      await ended;
    },
  };
}
