import { createTestDatabase, waitFor } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { createWorker, defineJob } from 'holdfast';
import type { Holdfast } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useApplication } from './support/application.ts';
import type { ApplicationWork } from './support/application.ts';
import { libraries } from './support/libraries.ts';

const strange = `it's "quoted" \\ $1 ?? :name \n {a,"b"} ümläut 漢字 🦊`;
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

describe.each(libraries)('an event that is emitted in a transaction of $name', (library) => {
  const use = <Result>(work: ApplicationWork<Result>) => useApplication(library, db.url, work);
  const event = `paid.${library.name.replaceAll(/\W/g, '-')}`;
  const emit = (holdfast: Holdfast<never>, options: object) =>
    holdfast.emit(event, { note: strange }, options);

  async function countEvents(): Promise<number> {
    const text = 'select from holdfast.events where event = $1';
    return (await db.database.query({ name: 'test_events', text }, [event])).length;
  }

  it('is there with its listeners’ jobs after the commit', async () => {
    await use(async ({ holdfast, transaction }) => {
      await holdfast.subscribe(event, 'order.ship', { queue: `new-${event}` });
      const { id, jobIds } = await transaction((tx) => emit(holdfast, { tx }));
      const [jobId = ''] = jobIds;
      expect(await holdfast.get(jobId)).toMatchObject({
        type: 'order.ship',
        queue: `new-${event}`,
        payload: { id, event, data: { note: strange } },
      });
      expect(await countEvents()).toBe(1);
    });
  });

  it('leaves nothing after a rollback', async () => {
    const error = new Error('changed my mind');
    const before = await countEvents();
    const attempt = use(({ holdfast, transaction }) =>
      transaction(async (tx) => {
        await emit(holdfast, { tx });
        throw error;
      }),
    );
    await expect(attempt).rejects.toBe(error);
    expect(await countEvents()).toBe(before);
  });

  it('comes from a handler when its job has completed, which is announced as well', async () => {
    await use(async ({ holdfast }) => {
      const done = `done.${event}`;
      const job = defineJob<object>({ type: done, queue: done });
      await holdfast.subscribe(done);
      await holdfast.subscribe('JobProcessed');
      const worker = createWorker({ holdfast, queues: [done] }).handle(job, (_, ctx) =>
        ctx.transaction((tx) => ctx.emit(done, {}, { tx }).then(({ id }) => id)),
      );
      await worker.start();
      try {
        const { id } = await holdfast.enqueue(job, {});
        const { result } = await holdfast.wait(id, { timeout: '30s' });
        const told = await waitFor('both events are told', async () => {
          const { events } = await holdfast.readEvents({ events: [done, 'JobProcessed'] });
          const own = events.filter((each) => each.id === result || each.jobId === id);
          return own.length === 2 && own;
        });
        expect(told.map((each) => each.event).sort()).toEqual(['JobProcessed', done].sort());
      } finally {
        await worker.stop();
      }
    });
  });
});
