import { createBatch } from '@holdfast/database';
import type { NewBatch, NewCallback, NewJob } from '@holdfast/database';
import { uuidSeries, uuidV7 } from '@holdfast/domain';
import type { OnParentFailure } from '@holdfast/domain';
import { waitFor } from '@holdfast/testing';
import { expect, it } from 'vitest';
import { findBatchFaults, untilSettled } from './support/check-batches.ts';
import { ask } from './support/records.ts';
import { supervise, untilDied } from './support/supervise.ts';
import { useArena } from './support/use-arena.ts';

const workerCount = 3;
const schedulerCount = 2;
const killCount = 10;
/** Of each form, for each kill. */
const formCount = 5;

const arena = useArena();

it('calls every callback once and counts every member while workers and schedulers are killed', async () => {
  const processes = [
    ...Array.from({ length: workerCount }, () => supervise(() => arena().startWorker())),
    ...Array.from({ length: schedulerCount }, () => supervise(() => arena().startScheduler())),
  ];
  const made: NewBatch[] = [];
  for (let kill = 1; kill <= killCount; kill += 1) {
    const batches = Array.from({ length: formCount }).flatMap(() => makeForms());
    const startCount = countStarts() + batches.length;
    for (const batch of batches) await enqueue(batch);
    made.push(...batches);
    await waitFor('some of them have started', () => countStarts() >= startCount, {
      timeoutMs: 60_000,
    });
    const turn = kill % processes.length;
    const inTurn = [...processes.slice(turn), ...processes.slice(0, turn)];
    await waitFor('a process is there to be killed', () => inTurn.some((each) => each.kill()));
  }
  const { database } = arena();
  await untilSettled(database);
  expect(await untilDied(processes, killCount)).toBe(killCount);
  for (const process of processes) await process.stop();

  expect(await findBatchFaults(database)).toEqual([]);
  const flat = made.flatMap((batch) => [batch, ...(batch.batches ?? [])]);
  const sql = 'select count(*)::integer as count from holdfast.batches';
  expect(await ask(database, sql)).toEqual([{ count: flat.length }]);
  arena().acknowledge(flat.flatMap(({ jobs }) => jobs.map(({ id }) => id)));
  const callbackIds = flat.flatMap(({ callbacks = [] }) => callbacks.map(({ jobId }) => jobId));
  expect(await arena().check({ unknown: callbackIds })).toEqual([]);
});

async function enqueue(batch: NewBatch): Promise<void> {
  const { database, projectId } = arena();
  await createBatch(database, { projectId, batch });
}

/** One of each: a batch that completes, one that does not, one inside of another, chains and graphs. */
function makeForms(): readonly NewBatch[] {
  return [
    batchOf(['quick', 'quick', 'quick']),
    batchOf(['quick', 'doomed', 'doomed']),
    batchOf(['doomed', 'quick'], { allowFailures: true }),
    batchOf([]),
    batchOf(['quick'], { batches: [batchOf(['quick', 'doomed']), batchOf(['quick'])] }),
    chainOf(['quick', 'quick', 'quick', 'quick']),
    chainOf(['quick', 'doomed', 'quick', 'quick']),
    diamond('quick', 'cancel'),
    diamond('doomed', 'cancel'),
    diamond('doomed', 'run'),
  ];
}

function batchOf(types: readonly string[], more: Partial<NewBatch> = {}): NewBatch {
  const id = uuidV7(Date.now());
  const nextId = uuidSeries(id);
  const callback = (role: NewCallback['role'], percent?: number): NewCallback => ({
    ...{ role, percent, jobId: nextId() },
    job: { type: 'quick', queue: 'callbacks', payload: { role } },
  });
  return {
    ...{ id, kind: 'batch' },
    jobs: types.map((type): NewJob => ({
      ...{ id: nextId(), queue: 'work', type, payloadJson: '{}' },
      maxAttempts: type === 'doomed' ? 1 : undefined,
    })),
    callbacks: [
      ...[callback('then'), callback('catch'), callback('finally')],
      ...[50, 100].map((percent) => callback('progress', percent)),
    ],
    ...more,
  };
}

function chainOf(types: readonly string[]): NewBatch {
  const batch = batchOf(types, { kind: 'chain' });
  const places = types.slice(1).map((_, index) => [index, index + 1] as const);
  return { ...batch, dependencies: edges(batch, places, 'cancel') };
}

/** One job, then two at once of which one has the given type, then one that waits for both. */
function diamond(type: string, onFailure: OnParentFailure): NewBatch {
  const batch = batchOf(['quick', 'quick', type, 'quick'], { kind: 'graph' });
  const places = [...[[0, 1] as const, [0, 2] as const], ...[[1, 3] as const, [2, 3] as const]];
  return { ...batch, dependencies: edges(batch, places, onFailure) };
}

function edges(
  { jobs }: NewBatch,
  places: readonly (readonly [number, number])[],
  onFailure: OnParentFailure,
) {
  const idAt = (index: number) => jobs[index]?.id ?? '';
  return places.map(([parent, child]) => ({
    ...{ parentId: idAt(parent), childId: idAt(child), onFailure },
  }));
}

function countStarts(): number {
  return arena()
    .ledger()
    .filter(({ phase }) => phase === 'start').length;
}
