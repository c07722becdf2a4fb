import { defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import type { Holdfast, ListBatchesOptions } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

const echo = defineJob<number>({ type: 'echo' });
let batch: string;
let chain: string;
let graph: string;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
  batch = (await holdfast.batch([echo.with(1)]).enqueue()).id;
  chain = (await holdfast.chain([echo.with(2)]).enqueue()).id;
  graph = (await holdfast.graph((g) => void g.add(echo.with(3))).enqueue()).id;
});
afterAll(() => test.close());

async function idsOf(options: ListBatchesOptions): Promise<readonly string[]> {
  const { batches } = await holdfast.batches.list(options);
  return batches.map(({ id }) => id);
}

describe('a list of batches', () => {
  it('has all of them, the newest first, as they are read one by one', async () => {
    const { batches, nextCursor } = await holdfast.batches.list();
    const each = [graph, chain, batch].map((id) => holdfast.batches.get(id));
    expect(batches).toEqual(await Promise.all(each));
    expect(nextCursor).toBeUndefined();
  });

  it('is that of one kind', async () => {
    expect(await idsOf({ kind: 'chain' })).toEqual([chain]);
  });

  it('has no next page when the limit fits just so', async () => {
    expect(await holdfast.batches.list({ limit: 3 })).toMatchObject({ nextCursor: undefined });
  });

  it('comes in pages, each where the one before has ended, whatever is added meanwhile', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await holdfast.batches.list({ limit: 2, cursor });
      seen.push(...page.batches.map(({ id }) => id));
      cursor = page.nextCursor;
      await holdfast.batch([echo.with(4)]).enqueue();
    } while (cursor !== undefined);
    expect(seen).toEqual([graph, chain, batch]);
  });

  it('refuses what is none, by name and all at once', async () => {
    await holdfast.enqueue(echo, 5);
    const { nextCursor: ofJobs } = await holdfast.list({ limit: 1 });
    expect(ofJobs).toBeDefined();
    const bad = { kind: 'tree', limit: 201, cursor: ofJobs, before: batch };
    const words = ['before', 'limit', 'kind', 'cursor'];
    await expect(holdfast.batches.list(bad as never)).rejects.toMatchObject({
      code: 'options_invalid',
      problems: words.map((word) => expect.stringContaining(word) as string),
    });
    await expect(holdfast.batches.list('all' as never)).rejects.toThrow(/must be an object/);
  });
});
