import { afterAll, beforeAll, expect, it } from 'vitest';
import pg from 'pg';
import type { JobContext } from '../src/handler.ts';
import { openWorkshop } from './support/workshop.ts';
import type { Workshop } from './support/workshop.ts';

const leaseMs = 5_000;
const heartbeatMs = 200;

let shop: Workshop;

beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(async () => {
  await shop.close();
});

it('goes on after a beat that took longer than the time between two', async () => {
  const client = new pg.Client({ connectionString: shop.url });
  await client.connect();
  const seconds = (ms: number) => [ms / 1_000];
  const handler = async (_payload: unknown, { signal }: JobContext) => {
    // A beat says how the worker is: with the worker's row locked, it has to wait.
    await client.query('begin');
    await client.query('select 1 from holdfast.workers for update');
    await client.query('select pg_sleep($1)', seconds(heartbeatMs * 5));
    await client.query('commit');
    await client.query('select pg_sleep($1)', seconds(leaseMs * 1.2));
    return signal.aborted;
  };
  await shop.start({ handlers: { slow: handler }, leaseMs, heartbeatMs });
  const id = await shop.enqueue('slow');
  expect(await shop.untilEnded(id)).toMatchObject({ status: 'completed', result: false });
  await client.end();
});
