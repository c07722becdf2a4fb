import { editJob, purgeQueue } from '@holdfast/database';
import { jobStatuses } from '@holdfast/domain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onlyRow, statusOf, takeSnapshot } from './support/job-snapshot.ts';
import { asLane, claimFrom, createRace } from './support/race.ts';
import type { MadeJob } from '@holdfast/testing';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterAll(async () => {
  await race.close();
});

async function rowOf(job: MadeJob) {
  return onlyRow(await takeSnapshot(race.database, job));
}

function keyOf({ projectId, id }: MadeJob) {
  return { projectId, id };
}

describe('editing a job', () => {
  const edit = {
    payloadJson: `{"it":"'s"}`,
    priority: 0,
    tags: ['a,b', '"', '{}'],
    metadataJson: '{"by":"ann"}',
    maxAttempts: 7,
    timeoutMs: 1_000,
  };

  it.each(jobStatuses)('that is %s is possible only before a worker has it', async (status) => {
    const job = await race.factory.make(status);
    const before = await takeSnapshot(race.database, job);
    const result = await editJob(race.database, { ...keyOf(job), edit });
    const isEditable = status === 'queued' || status === 'scheduled';
    expect(result.done).toBe(isEditable);
    if (!isEditable) {
      expect(result).toMatchObject({ reason: 'not_in_state', status });
      expect(await takeSnapshot(race.database, job)).toEqual(before);
      return;
    }
    expect(await rowOf(job)).toMatchObject({
      ...{ status, payload: { it: "'s" }, priority: 0, tags: edit.tags },
      ...{ metadata: { by: 'ann' }, max_attempts: 7, timeout_ms: 1_000 },
    });
  });

  it('leaves what is not named', async () => {
    const job = await race.factory.queued({ priority: 3, tags: ['x'], payloadJson: '[1]' });
    const before = await rowOf(job);
    await editJob(race.database, { ...keyOf(job), edit: { priority: 4 } });
    expect(await rowOf(job)).toEqual({ ...before, priority: 4 });
  });

  it('moves a scheduled job in time, but not one in line', async () => {
    const runAt = new Date(Date.now() + 7_200_000);
    const [scheduled, queued] = [await race.factory.scheduled(), await race.factory.queued()];
    expect(await editJob(race.database, { ...keyOf(scheduled), edit: { runAt } })).toMatchObject({
      done: true,
    });
    expect(new Date((await rowOf(scheduled)).run_at)).toEqual(runAt);
    expect(await editJob(race.database, { ...keyOf(queued), edit: { runAt } })).toMatchObject({
      done: false,
    });
  });

  it('that breaks a rule changes nothing', async () => {
    const job = await race.factory.queued();
    const before = await takeSnapshot(race.database, job);
    const broken = editJob(race.database, { ...keyOf(job), edit: { priority: 10 } });
    await expect(broken).rejects.toMatchObject({ code: '23514' });
    expect(await takeSnapshot(race.database, job)).toEqual(before);
  });

  it('waits for a claim and then finds the job taken', async () => {
    const job = await race.factory.queued();
    await race.hold(() => claimFrom(asLane(race.first), job));
    const { result } = await race.startBlocked((second) => {
      return editJob(second, { ...keyOf(job), edit });
    });
    await race.commit();
    expect(await result).toMatchObject({ done: false, status: 'claimed' });
  });
});

describe('purging a queue', () => {
  it('cancels what waits, and leaves what runs and what has ended', async () => {
    const queue = 'purged';
    const kept = [
      await race.factory.running({ queue }),
      await race.factory.deadLetter({ queue }),
      await race.factory.queued({ queue: 'other' }),
    ];
    const waiting = [await race.factory.scheduled({ queue }), await race.factory.queued({ queue })];
    const before = await Promise.all(kept.map((job) => takeSnapshot(race.database, job)));
    const { projectId, queueId } = kept[0] ?? waiting[0] ?? { projectId: '', queueId: '' };
    const reason = 'queue_purged';
    expect(await purgeQueue(race.database, { projectId, queueId, reason })).toBe(2);
    for (const job of waiting) expect(await statusOf(race.database, job)).toBe('cancelled');
    expect(await Promise.all(kept.map((job) => takeSnapshot(race.database, job)))).toEqual(before);
  });
});
