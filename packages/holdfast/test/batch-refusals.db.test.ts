import { createWorker, defineJob } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { countJobs } from './support/stored-rows.ts';
import type { BatchMember, Holdfast, JobRequest } from 'holdfast';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

const step = defineJob<{ name: string }>({ type: 'step' });
const ran = defineJob({ type: 'step', run: () => undefined });
const teller = (name: string) => step.with({ name });

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

describe('a batch that could not finish', () => {
  it('refuses an id that is given twice, and writes nothing', async () => {
    const count = await countJobs(test.server.url);
    const options = { id: '01920000-0000-7000-8000-00000000dddd' };
    const twin = () => step.with({ name: 'twin' }, options);
    const code = 'batch_member_exists';
    for (const build of [
      holdfast.batch([twin(), twin()]),
      holdfast.batch([twin(), holdfast.batch([twin()])]),
      holdfast.batch([]).then(twin()).finally(twin()),
      holdfast.batch([twin()]).finally(twin()),
    ]) {
      await expect(build.enqueue()).rejects.toMatchObject({ code });
    }
    const open = await holdfast.batch([step.with({ name: 'a' }, { delay: '1h' })]).enqueue();
    await expect(holdfast.batches.add(open.id, [twin(), twin()])).rejects.toMatchObject({ code });
    expect(await holdfast.batches.get(open.id)).toMatchObject({ counts: { total: 1 } });
    expect(await countJobs(test.server.url)).toBe(count + 1);
  });

  it('refuses batches in each other beyond 100 levels while they are put together', async () => {
    let nested = holdfast.chain([teller('innermost')]);
    for (let depth = 2; depth <= 100; depth += 1) nested = holdfast.batch([nested]);
    const tooDeep = expect.objectContaining({ code: 'batch_too_deep' }) as Error;
    expect(() => holdfast.batch([teller('a'), nested])).toThrow(tooDeep);
    expect(() => holdfast.batch([nested.finally(teller('b'))])).toThrow(tooDeep);

    const { id } = await nested.enqueue();
    expect((await holdfast.batches.cancel(id)).cancelledCount).toBe(1);
    const ended = await holdfast.batches.wait(id);
    expect(ended).toMatchObject({ status: 'cancelled', counts: { total: 1 } });
  });

  it('refuses batches that double until they are too many, before it goes through them', async () => {
    const tooLarge = expect.objectContaining({ code: 'batch_too_large' }) as Error;
    let doubled = holdfast.batch([teller('a')]);
    for (let times = 1; times <= 12; times += 1) doubled = holdfast.batch([doubled, doubled]);
    expect(() => holdfast.batch([doubled, doubled])).toThrow(tooLarge);
    const { id } = await holdfast.batch([teller('b')]).enqueue();
    const added = holdfast.batches.add(id, [doubled, doubled]);
    await expect(added).rejects.toMatchObject({ code: 'batch_too_large' });

    const wide = holdfast.batch(Array.from({ length: 10_000 }, () => teller('a')));
    expect(() => holdfast.batch(Array.from({ length: 101 }, () => wide))).toThrow(tooLarge);
  });

  it('refuses an id that another batch has, and answers only with jobs that exist', async () => {
    const options = { id: '01920000-0000-7000-8000-00000000eeee' };
    const later = (name: string) => step.with({ name }, { delay: '1h' });
    const first = await holdfast.batch([later('a'), later('b')], options).enqueue();
    const open = await holdfast.batch([later('c')]).enqueue();
    const count = await countJobs(test.server.url);
    const other = holdfast.batch(['j1', 'j2', 'j3'].map(later), options);
    const refused = { code: 'batch_member_exists' };
    await expect(other.enqueue()).rejects.toMatchObject(refused);
    await expect(holdfast.batches.add(open.id, [other])).rejects.toMatchObject(refused);
    await expect(holdfast.batches.add(first.id, [other])).rejects.toMatchObject(refused);
    expect(await holdfast.batch([later('a'), later('b')], options).enqueue()).toEqual(first);
    const fewer = await holdfast.batch([later('a')], options).enqueue();
    expect(fewer.jobIds).toEqual(first.jobIds.slice(0, 1));
    expect(await holdfast.batches.get(open.id)).toMatchObject({ counts: { total: 1 } });
    expect(await countJobs(test.server.url)).toBe(count);
  });

  it('calls its callback under another id when somebody else has taken that of the callback', async () => {
    const id = '01920000-0000-7000-8000-00000000ffff';
    const made = await holdfast
      .batch([step.with({ name: 'member' }, { delay: '1h' })])
      .finally(step.with({ name: 'callback' }, { id }))
      .enqueue();
    await holdfast.enqueue(step, { name: 'stranger' }, { id, delay: '1h' });
    await holdfast.batches.cancel(made.id);
    const worker = createWorker({ holdfast, jobs: [ran] });
    await worker.start();
    const [callback] = (await holdfast.batches.wait(made.id)).callbacks;
    await worker.stop();
    expect(callback?.jobId).not.toBe(id);
    expect(await holdfast.get(callback?.jobId ?? '')).toMatchObject({ status: 'completed' });
    expect(await holdfast.get(id)).toMatchObject({ status: 'scheduled' });
  });

  it('keeps what it was given, so that a batch or a chain cannot come to contain itself', async () => {
    const members: BatchMember[] = [teller('member')];
    const batch = holdfast.batch(members);
    members.push(batch);
    expect(await batch.enqueue()).toMatchObject({ jobIds: [expect.any(String)], batches: [] });

    const links: unknown[] = [teller('link')];
    const chain = holdfast.chain(links as JobRequest[]);
    links.push(chain, teller('late'));
    expect((await chain.enqueue()).jobIds).toHaveLength(1);
  });

  it('refuses a graph of more than 10 000 jobs, also when none waits for another', async () => {
    const graph = holdfast.graph((g) => {
      for (let index = 0; index <= 10_000; index += 1) g.add(teller('a'));
    });
    await expect(graph.enqueue()).rejects.toMatchObject({ code: 'graph_invalid' });
  });

  it('refuses to build a graph by an async function, whose jobs would come too late', () => {
    const build = async (g: { add(job: ReturnType<typeof teller>): unknown }) => {
      await Promise.resolve();
      g.add(teller('late'));
    };
    expect(() => holdfast.graph(build as never)).toThrow(
      expect.objectContaining({ code: 'options_invalid' }) as Error,
    );
  });
});
