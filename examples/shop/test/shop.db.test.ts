import { join } from 'node:path';
import { createEmptyDatabase, spawnProcess, waitFor } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = join(import.meta.dirname, '..');
const order = { sku: 'tea', email: 'ada@example.com', card: 'visa' };
const nowhere = '00000000-0000-4000-8000-000000000000';
let db: TestDatabase;
let web: SpawnedProcess;
let worker: SpawnedProcess;
let url: string;

const run = (script: string): SpawnedProcess =>
  spawnProcess({
    script: '--import',
    args: ['tsx', join(folder, 'src', script)],
    cwd: folder,
    env: { DATABASE_URL: db.url, PORT: '0' },
  });

beforeAll(async () => {
  db = await createEmptyDatabase();
  web = run('web.ts');
  worker = run('worker.ts');
  [, url = ''] = await web.waitForOutput(/at (http:\S+);/);
  await worker.waitForOutput(/is ready/);
});
afterAll(async () => {
  await Promise.all([web.destroy(), worker.destroy()]);
  await db.drop();
});

async function post(path: string, body: unknown) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as { readonly id: string } };
}

async function get(path: string): Promise<unknown> {
  return (await fetch(url + path)).json();
}

/** Asks until the answer has the status. */
const until = (path: string, status: string) =>
  waitFor(`${path} is ${status}`, async () => {
    const answer = (await get(path)) as { readonly status: string };
    return answer.status === status && answer;
  });

const jobsOf = (id: string) =>
  db.database.query<{ type: string; status: string }>(
    {
      name: 'jobs_of',
      text: `select type, status
        from (table holdfast.jobs union all table holdfast.job_history) as j
        where payload ->> 'orderId' = $1 order by type`,
    },
    [id],
  );

describe('an import', () => {
  it('makes each product in a job of its own, and says when all are there', async () => {
    const { status, body } = await post('/imports', [
      { sku: 'tea', name: 'Tea', priceCents: 450 },
      { sku: 'cup', name: 'Cup', priceCents: 900 },
    ]);
    expect(status).toBe(202);
    await until(`/imports/${body.id}`, 'complete');
    expect(await get('/products')).toEqual([
      { sku: 'cup', name: 'Cup', priceCents: 900 },
      { sku: 'tea', name: 'Tea', priceCents: 450 },
    ]);
  });

  it('says so when a line cannot be taken, and takes the others', async () => {
    const { body } = await post('/imports', [
      { sku: 'pot', name: 'Pot', priceCents: 2_900 },
      { sku: 'lid', name: 'Lid', priceCents: 0 },
    ]);
    await until(`/imports/${body.id}`, 'incomplete');
    await waitFor('the pot is there', async () =>
      JSON.stringify(await get('/products')).includes('"pot"'),
    );
    expect(JSON.stringify(await get('/products'))).not.toContain('"lid"');
  });

  it('refuses a list with a mistake as a whole', async () => {
    const { status } = await post('/imports', [{ sku: 'jug', name: 'Jug', priceCents: '9 €' }]);
    expect(status).toBe(422);
  });
});

describe('an order', () => {
  it('is charged, shipped and announced, in this order', async () => {
    const { status, body } = await post('/orders', order);
    expect(status).toBe(202);
    const path = `/orders/${body.id}`;
    await waitFor('the letter is written', async () =>
      JSON.stringify(await get(path)).includes('parcel-'),
    );
    expect(await get(path)).toMatchObject({
      status: 'shipped',
      paymentId: `payment-${body.id}`,
      letters: [`Your order is on its way: parcel-${body.id}`],
    });
  });

  it('is cancelled when the card is declined, and nothing is shipped', async () => {
    const { body } = await post('/orders', { ...order, card: 'declined' });
    const found = await until(`/orders/${body.id}`, 'cancelled');
    expect(found).toMatchObject({ letters: ['We had to cancel your order.'] });
    expect(await jobsOf(body.id)).toEqual([
      { type: 'order.cancel', status: 'completed' },
      { type: 'order.charge', status: 'dead_letter' },
      { type: 'order.notify', status: 'cancelled' },
      { type: 'order.ship', status: 'cancelled' },
    ]);
  });

  it('leaves neither a row nor a job when its transaction cannot be committed', async () => {
    const { status } = await fetch(`${url}/orders`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...order, sku: 'no such product' }),
    });
    expect(status).toBe(500);
    const rows = await db.database.query({
      name: 'unplaced',
      text: `select 1 from shop.orders where sku = 'no such product'
        union all select 1 from holdfast.jobs where type = 'order.charge' and status <> 'dead_letter'`,
    });
    expect(rows).toEqual([]);
  });
});

describe('an address without an order or import behind it', () => {
  it.each(['/orders/x', '/imports/x', `/orders/${nowhere}`, `/imports/${nowhere}`])(
    'is not found: %s',
    async (path) => {
      expect((await fetch(url + path)).status).toBe(404);
    },
  );
});

describe('Ctrl-C', () => {
  it.each([
    ['web', () => web],
    ['worker', () => worker],
  ])('stops the %s process', async (_name, find) => {
    const process = find();
    process.kill('SIGINT');
    expect(await process.exited).toEqual({ code: 0, signal: null });
    // What went to the other output may come after it.
    expect(process.output()).toContain('Stopped.\n');
  });
});
