import { EventEmitter, once } from 'node:events';
import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { Holdfast } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

const notFound = { code: 'queue_not_found' };

describe('a drain', () => {
  it('pauses the queue and tells how many of its jobs still run', async () => {
    const gate = new EventEmitter();
    const slow = defineJob({
      type: 'slow',
      queue: 'drained',
      run: async () => {
        const opened = once(gate, 'open');
        gate.emit('running');
        await opened;
      },
    });
    await using worker = createWorker({ holdfast, jobs: [slow] });
    await worker.start();
    const running = once(gate, 'running');
    const { id } = await holdfast.enqueue(slow);
    await running;
    const until = new Date(Date.now() + 3_600_000);
    const before = await holdfast.queues.drain('drained', { reason: 'deploy', until, by: 'ada' });
    expect(before).toMatchObject({ remaining: 1, drained: false });
    expect(before.queue.paused).toMatchObject({ reason: 'deploy', by: 'ada', until });
    gate.emit('open');
    await holdfast.wait(id);
    const after = await holdfast.queues.drain('drained');
    expect(after).toMatchObject({ queue: { name: 'drained' }, remaining: 0, drained: true });
  });
});

describe('a purge', () => {
  it('cancels the jobs that have not started, and counts them', async () => {
    const options = { queue: 'purged' };
    const { ids } = await holdfast.enqueueMany('any', [1, 2], options);
    const later = await holdfast.enqueue('any', 3, { ...options, delay: '1h' });
    const other = await holdfast.enqueue('any', 4, { queue: 'spared' });
    expect(await holdfast.queues.purge('purged')).toEqual({ purged: 3 });
    for (const id of [...ids, later.id]) {
      expect(await holdfast.get(id)).toMatchObject({ status: 'cancelled', reason: 'purged' });
    }
    expect(await holdfast.get(other.id)).toMatchObject({ status: 'queued' });
    expect(await holdfast.queues.purge('purged')).toEqual({ purged: 0 });
  });

  it('needs a queue', async () => {
    await expect(holdfast.queues.purge('unheard-of')).rejects.toMatchObject(notFound);
  });
});

describe('a delete', () => {
  it('takes a queue away that holds no job', async () => {
    const { id } = await holdfast.enqueue('any', 1, { queue: 'deleted' });
    const refused = { code: 'queue_not_empty' };
    await expect(holdfast.queues.delete('deleted')).rejects.toMatchObject(refused);
    await holdfast.cancel(id);
    await holdfast.queues.delete('deleted');
    await expect(holdfast.queues.get('deleted')).rejects.toMatchObject(notFound);
    await expect(holdfast.queues.delete('deleted')).rejects.toMatchObject(notFound);
    // What has ended in it is found by its name all the same.
    expect(await holdfast.list({ queue: 'deleted' })).toMatchObject({ jobs: [{ id }] });
    await holdfast.enqueue('any', 1, { queue: 'deleted' });
    expect(await holdfast.queues.get('deleted')).toMatchObject({ counts: { queued: 1 } });
    expect((await holdfast.list({ queue: 'deleted' })).jobs).toHaveLength(2);
  });
});
