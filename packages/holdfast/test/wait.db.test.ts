import { Holdfast, WaitTimeoutError, createWorker, defineJob } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pauseAfterMs } from '../src/poll-until.ts';
import { openBehindProxy } from './support/open-behind-proxy.ts';
import type { TestDatabase } from '@holdfast/testing';
import type { CuttingProxy } from './support/cutting-proxy.ts';
import type { HoldfastBehindProxy } from './support/open-behind-proxy.ts';

let test: HoldfastBehindProxy;
let server: TestDatabase;
let proxy: CuttingProxy;
let holdfast: Holdfast;

beforeEach(async () => {
  test = await openBehindProxy();
  ({ server, proxy, holdfast } = test);
});
afterEach(() => test.close());

const nobodys = defineJob({ type: 'nobodys' });

/** A job and a batch that nobody runs. */
async function enqueueBoth(): Promise<readonly [string, string]> {
  const { id } = await holdfast.enqueue(nobodys, 1);
  const batch = await holdfast.batch([nobodys.with(2)]).enqueue();
  return [id, batch.id];
}

/** More tries than two other calls would get. */
const manyTries = 21;

/** A Holdfast behind the proxy, and what it logs. */
function openWithLog() {
  const lines: string[] = [];
  const quiet = (): void => undefined;
  const note = (_fields: object, message: string): void => void lines.push(message);
  const logger = { debug: quiet, info: note, error: quiet, warn: note };
  return { lines, holdfast: new Holdfast({ connectionString: proxy.url, logger }) };
}

describe('a wait whose database does not answer', () => {
  it('goes on until the database is back, and then sees what has happened', async () => {
    const [job, batch] = await enqueueBoth();
    const turnedAway = proxy.turnAway(manyTries);
    const one = openWithLog();
    const other = openWithLog();
    const waits = Promise.all([one.holdfast.wait(job), other.holdfast.batches.wait(batch)]);
    await Promise.race([waits, turnedAway]);
    await using direct = new Holdfast({ connectionString: server.url });
    await using worker = createWorker({ holdfast: direct });
    await worker.handle(nobodys, (payload) => payload).start();
    proxy.letIn();
    const ended = { status: 'completed' };
    expect(await waits).toMatchObject([{ ...ended, result: 1 }, ended]);
    for (const { lines } of [one, other]) {
      expect(lines[0]).toBe('the database does not answer, waiting for it');
      expect(lines.at(-1)).toBe('the database answers again');
    }
    await Promise.all([one.holdfast.close(), other.holdfast.close()]);
  });

  it('ends when its Holdfast is closed', async () => {
    const [job, batch] = await enqueueBoth();
    await proxy.close();
    const { holdfast: closed } = openWithLog();
    const waits = Promise.allSettled([closed.wait(job), closed.batches.wait(batch)]);
    await closed.close();
    const error = { code: 'closed' };
    expect(await waits).toMatchObject([{ reason: error }, { reason: error }]);
  });

  it('ends in time when connections are silent, and says how things were at the last look', async () => {
    const [job, batch] = await enqueueBoth();
    const waits = [
      holdfast.wait(job, { timeout: '1s' }),
      holdfast.batches.wait(batch, { timeout: '1s' }),
    ];
    const settled = Promise.allSettled(waits);
    // Asked for after the first looks, and answered after them.
    await holdfast.get(job);
    await holdfast.batches.get(batch);
    proxy.fallSilent();
    const [ofJob, ofBatch] = await settled;
    const code = 'wait_timed_out';
    expect(ofJob).toMatchObject({ reason: { code, jobId: job, status: 'queued' } });
    expect(ofBatch).toMatchObject({ reason: { code } });
    const fresh = holdfast.wait(job, { timeout: 50 });
    await expect(fresh).rejects.toThrow(WaitTimeoutError);
    await expect(fresh).rejects.toMatchObject({ status: undefined });
  });

  it('ends in time when there is no server, and tells why nothing was seen', async () => {
    const [job, batch] = await enqueueBoth();
    await proxy.close();
    const error = { code: 'wait_timed_out', cause: { code: 'ECONNREFUSED' } };
    const options = { timeout: '1s' } as const;
    const [ofJob, ofBatch] = await Promise.allSettled([
      holdfast.wait(job, options),
      holdfast.batches.wait(batch, options),
    ]);
    expect(ofJob).toMatchObject({ reason: error });
    expect(ofBatch).toMatchObject({ reason: error });
  });

  it('ends by its signal, with the reason of that', async () => {
    const [job, batch] = await enqueueBoth();
    proxy.fallSilent();
    const giveUp = new AbortController();
    const waits = Promise.allSettled([
      holdfast.wait(job, { signal: giveUp.signal }),
      holdfast.batches.wait(batch, { signal: giveUp.signal }),
    ]);
    giveUp.abort(new Error('the user went away'));
    for (const each of await waits) {
      expect(each).toMatchObject({ reason: { message: 'the user went away' } });
    }
  });
});

it('ends at once when the server does not let it in, however long it may wait', async () => {
  const [job, batch] = await enqueueBoth();
  const url = new URL(server.url);
  url.password = 'wrong';
  await using refused = new Holdfast({ connectionString: url.href });
  const code = 'database_refused';
  await expect(refused.wait(job)).rejects.toMatchObject({ code });
  await expect(refused.batches.wait(batch, { timeout: '1h' })).rejects.toMatchObject({ code });
});

it('refuses limits of a wait that are none, by their names', async () => {
  const [job] = await enqueueBoth();
  const options = { timeout: 'soon', signal: 'stop' } as never;
  await expect(holdfast.wait(job, options)).rejects.toMatchObject({
    code: 'options_invalid',
    problems: [expect.stringContaining('timeout'), 'signal must be an AbortSignal'],
  });
});

it('looks less often the longer it waits, and no two waits at the same moments', () => {
  const middle = () => 0.5;
  const pauses = Array.from({ length: 30 }, (_, index) => pauseAfterMs(index + 1, middle));
  expect(pauses[0]).toBe(20);
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  expect(pauses.at(-1)).toBe(1_000);
  expect(pauseAfterMs(1, () => 0)).toBe(15);
  expect(pauseAfterMs(1, () => 0.999)).toBeCloseTo(25, 1);
});
