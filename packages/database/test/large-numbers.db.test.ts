import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJob, updateQueue } from '@holdfast/database';
import { asLane, claimFrom, createRace } from './support/race.ts';
import type { Race } from './support/race.ts';

let race: Race;

beforeAll(async () => {
  race = await createRace();
});
afterAll(async () => {
  await race.close();
});

describe('identities and places in the line', () => {
  // Past the 32-bit integers, and where a JavaScript number would lose the last digit.
  it.each(['2147483648', '9007199254740993'])('from %s on are kept exactly', async (start) => {
    await race.database.execute(`
      alter table holdfast.queues alter column id restart with ${start};
      alter sequence holdfast.job_seq restart with ${start};
    `);
    const job = await race.factory.queued();
    expect(job.queueId).toBe(start);
    const [claimed] = await claimFrom(asLane(race.first), job);
    expect(claimed).toMatchObject({ id: job.id, queueId: start, seq: start });
    const { projectId, queue, id } = job;
    expect(await readJob(race.database, { projectId, id })).toMatchObject({ queue });
    const settings = { concurrency: 1 };
    expect(await updateQueue(race.database, { projectId, name: queue, settings })).toBe('2');
  });
});
