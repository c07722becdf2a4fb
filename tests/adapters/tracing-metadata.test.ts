import { Holdfast } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { withBaggage } from './support/recorded-spans.ts';
import { greet, useTracedApplication } from './support/traced-application.ts';

const traced = useTracedApplication();

describe('the context in the metadata', () => {
  const stored = async (id: string) => (await traced.app.holdfast.get(id)).metadata;
  const traceparent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/;

  it('leaves out as much as the limit of the metadata has no room for', async () => {
    const filled = (bytes: number) => ({ metadata: { text: 'x'.repeat(bytes) } });
    const [all, some, none] = await withBaggage({ tenant: 'y'.repeat(500) }, async () => [
      await traced.app.holdfast.enqueue('late', {}, { ...filled(7_000), delay: '1d' }),
      await traced.app.holdfast.enqueue('late', {}, { ...filled(8_000), delay: '1d' }),
      await traced.app.holdfast.enqueue('late', {}, { ...filled(8_180), delay: '1d' }),
    ]);
    expect((await stored(all.id))['holdfast.trace']).toEqual({
      traceparent: expect.stringMatching(traceparent) as string,
      baggage: `tenant=${'y'.repeat(500)}`,
    });
    expect(await stored(some.id)).toEqual({
      ...filled(8_000).metadata,
      'holdfast.trace': { traceparent: expect.stringMatching(traceparent) as string },
    });
    expect(await stored(none.id)).toEqual(filled(8_180).metadata);
  });

  it('may be missing, foreign or nonsense', async () => {
    const traces = [undefined, 5, 'x', [], { traceparent: 5, baggage: {} }, { traceparent: 'x' }];
    const known = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const untraced = new Holdfast({ connectionString: traced.db.url });
    await traced.app
      .whileWorking([greet], async () => {
        for (const each of [...traces, known]) {
          const metadata = { 'holdfast.trace': each };
          const { id } = await untraced.enqueue(greet, { to: 'Ada' }, { metadata });
          expect(await untraced.wait(id)).toMatchObject({ result: { tenant: '' } });
        }
      })
      .finally(() => untraced.close());
    expect(
      traced.app.spans
        .named('process default')
        .map(({ links }) => links.map((link) => link.context.spanId)),
    ).toEqual([...traces.map(() => []), ['cd'.repeat(8)]]);
  });

  it('is not there without an SDK, and all else is as ever', async () => {
    await traced.app.spans.stop();
    await traced.app.whileWorking([greet], async () => {
      const { id } = await traced.app.holdfast.enqueue(greet, { to: 'Ada' });
      expect(await stored(id)).toEqual({});
      expect(await traced.app.holdfast.wait(id)).toMatchObject({
        status: 'completed',
        result: { metadata: 'nothing' },
      });
    });
    expect(traced.app.spans.all).toEqual([]);
  });
});
