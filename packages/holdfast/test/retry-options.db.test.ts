import { OptionsInvalidError, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { readRows } from './support/stored-rows.ts';
import type { Holdfast } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';
import type { StoredRow } from './support/stored-rows.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

async function rowOf(id: string): Promise<StoredRow> {
  const [row] = await readRows(test.server.url, [id]);
  if (row === undefined) throw new Error('The job is not there');
  return row;
}

describe('the options of retries', () => {
  it('are completed by those of the queue', async () => {
    await holdfast.queues.upsert('slow', { backoff: '9s', retry: 'manual' });
    const { id } = await holdfast.enqueue('any', {}, { queue: 'slow', maxExceptions: 2 });
    expect(await rowOf(id)).toMatchObject({
      retry: { mode: 'manual', backoff: { kind: 'fixed', delayMs: 9_000 }, maxExceptions: 2 },
    });
  });

  it('replace an end of the attempts by another one, whatever their forms', async () => {
    const end = new Date('2030-01-01T00:00:00Z');
    await holdfast.queues.upsert('ending', { retryUntil: '1h' });
    const job = defineJob({ type: 'ending', queue: 'ending', retryUntil: end });
    const { id: first } = await holdfast.enqueue(job);
    const { id: second } = await holdfast.enqueue(job, {}, { retryUntil: '2h' });
    const { id: third } = await holdfast.enqueue('ending', {}, { queue: 'ending' });
    const ends = [first, second, third].map(async (id) => (await rowOf(id))['retry'] ?? null);
    const [ofDefinition, ofCall, ofQueue] = await Promise.all(ends);
    expect(ofDefinition).toMatchObject({ mode: 'automatic', retryUntil: end.toISOString() });
    expect(ofDefinition).not.toHaveProperty('retryForMs');
    expect(ofCall).toMatchObject({ mode: 'automatic', retryForMs: 7_200_000 });
    expect(ofCall).not.toHaveProperty('retryUntil');
    expect(ofQueue).toMatchObject({ retryForMs: 3_600_000 });
  });

  it('are no object, and the error names the options that say the same', async () => {
    const retry = { mode: 'manual', within: '1h', until: new Date(), maxExceptions: 3 } as never;
    const calls = [
      () => holdfast.enqueue('any', {}, { retry }),
      () => Promise.resolve().then(() => defineJob({ type: 'any', retry })),
      () => holdfast.queues.upsert('any', { retry }),
      () => holdfast.subscribe('any', 'any', { retry }),
    ];
    for (const call of calls) {
      const error = await call().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OptionsInvalidError);
      expect(String(error)).toMatch(
        /retry must be "automatic" or "manual".*retryUntil.*maxExceptions/,
      );
    }
  });
});
