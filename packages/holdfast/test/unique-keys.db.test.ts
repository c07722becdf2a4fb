import { UniqueKeyHeldError, createWorker, defineJob } from 'holdfast';
import pg from 'pg';
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

const sync = defineJob({ type: 'sync', run: (n: number) => n });

describe('a unique key', () => {
  it('is shown with the job that holds it, as is the instant by which it must start', async () => {
    const startDeadline = new Date('2100-01-01T00:00:00Z');
    const { id } = await holdfast.enqueue(sync, 1, { unique: { key: 'shown' }, startDeadline });
    expect(await holdfast.get(id)).toMatchObject({
      unique: { key: 'shown', scope: 'type', until: 'done' },
      startDeadline,
    });
    const plain = await holdfast.enqueue(sync, 1);
    expect(await holdfast.get(plain.id)).toMatchObject({
      unique: undefined,
      startDeadline: undefined,
    });
  });

  it('keeps the first job, and names it', async () => {
    const first = await holdfast.enqueue(sync, 1, { unique: { key: 'keep' } });
    const second = await holdfast.enqueue(sync, 2, { unique: { key: 'keep' } });
    expect(first.deduplicated).toBe(false);
    expect(second).toEqual({
      id: first.id,
      status: 'queued',
      deduplicated: true,
      conflict: 'kept',
    });
    expect(await holdfast.get(first.id)).toMatchObject({ payload: 1 });
  });

  it('replaces the payload of the first', async () => {
    const unique = { key: 'replace', onConflict: 'replace' } as const;
    const first = await holdfast.enqueue(sync, 1, { unique });
    const second = await holdfast.enqueue(sync, 2, { unique });
    expect(second).toMatchObject({ id: first.id, deduplicated: true, conflict: 'replaced' });
    expect(await holdfast.get(first.id)).toMatchObject({ payload: 2 });
  });

  it('lets the first wait anew', async () => {
    const unique = { key: 'calm', onConflict: 'debounce', wait: '1m', maxWait: '5m' } as const;
    const first = await holdfast.enqueue(sync, 1, { unique });
    expect(first.status).toBe('scheduled');
    const second = await holdfast.enqueue(sync, 2, { unique });
    expect(second).toMatchObject({ id: first.id, status: 'scheduled', conflict: 'debounced' });
  });

  it('lets one wait behind one that runs', async () => {
    const unique = { key: 'latest', onConflict: 'queue_latest' } as const;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const job = defineJob({
      type: 'latest',
      run: async (n: number) => {
        if (n === 1) await gate;
        return n;
      },
    });
    await using worker = createWorker({ holdfast, jobs: [job] });
    const running = new Promise((resolve) => holdfast.on('JobProcessing', resolve));
    await worker.start();
    const first = await holdfast.enqueue(job, 1, { unique });
    await running;
    const second = await holdfast.enqueue(job, 2, { unique });
    const third = await holdfast.enqueue(job, 3, { unique });
    expect(second).toMatchObject({
      ...{ deduplicated: false, conflict: 'queued_behind', holderId: first.id },
    });
    expect(third).toMatchObject({ id: second.id, deduplicated: true, conflict: 'replaced' });
    open();
    expect(await holdfast.wait(second.id, { timeout: '45s' })).toMatchObject({ result: 3 });
  });

  it('rejects the second', async () => {
    const unique = { key: 'one', scope: 'project', onConflict: 'reject' } as const;
    const { id } = await holdfast.enqueue(sync, 1, { unique });
    const call = holdfast.enqueue('another.type', 2, { unique });
    await expect(call).rejects.toThrow(UniqueKeyHeldError);
    await expect(call).rejects.toMatchObject({ code: 'unique_key_held', key: 'one', holderId: id });
  });

  it('holds for many jobs at once, each with its own', async () => {
    const { ids } = await holdfast.enqueueMany(sync, [1, 2, 1], {
      each: (n) => ({ unique: { key: `many-${String(n)}` } }),
    });
    expect(ids[2]).toBe(ids[0]);
    expect(new Set(ids).size).toBe(2);
  });

  it('does not abort the caller’s transaction when it is held', async () => {
    const client = new pg.Client(test.server.url);
    await client.connect();
    const first = await holdfast.enqueue(sync, 1, { unique: { key: 'tx' } });
    await client.query('begin');
    const options = { tx: client, unique: { key: 'tx' } } as const;
    const second = await holdfast.enqueue(sync, 2, options);
    expect(second).toMatchObject({ id: first.id, deduplicated: true });
    const rejected = holdfast.enqueue(sync, 3, {
      tx: client,
      unique: { key: 'tx', onConflict: 'reject' },
    });
    await expect(rejected).rejects.toThrow(UniqueKeyHeldError);
    const third = await holdfast.enqueue(sync, 4, { tx: client, unique: { key: 'tx-new' } });
    await client.query('commit');
    await client.end();
    expect(await holdfast.get(third.id)).toMatchObject({ payload: 4 });
  });

  it('is refused when its settings break a rule', async () => {
    await expect(
      holdfast.enqueue(sync, 1, {
        delay: '1s',
        unique: { key: 'x'.repeat(513), until: 'ttl', onConflict: 'debounce' },
      }),
    ).rejects.toThrow(/delay and runAt.*unique\.key must be 1 to 512.*unique\.ttl must be set/);
  });
});
