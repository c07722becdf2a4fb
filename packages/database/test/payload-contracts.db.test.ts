import {
  countWaitingPayloads,
  listPayloadContracts,
  listWaitingPayloads,
  registerPayloadContracts,
} from '@holdfast/database';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { NewPayloadContract } from '@holdfast/database';
import type { JobFactory, TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let factory: JobFactory;
let projectId: string;

beforeAll(async () => {
  test = await createTestDatabase();
  factory = await createJobFactory(test.database);
  ({ projectId } = factory);
});
beforeEach(() => test.database.execute('delete from holdfast.payload_contracts'));
afterAll(async () => {
  await test.drop();
});

const contract = (more: Partial<NewPayloadContract> = {}): NewPayloadContract => ({
  type: 'invoice.send',
  version: 1,
  schemaJson: '{"type":"object"}',
  fingerprint: 'a',
  ...more,
});

const register = (...contracts: readonly NewPayloadContract[]) =>
  registerPayloadContracts(test.database, { projectId, contracts });

const list = () => listPayloadContracts(test.database, projectId);

/** Where the rows are stored: another place after every write. */
async function places(): Promise<readonly unknown[]> {
  return test.database.query({
    name: 'test_contract_places',
    text: 'select ctid::text, xmin::text, xmax::text from holdfast.payload_contracts order by type, version',
  });
}

describe('the registry of payload contracts', () => {
  it('keeps one entry for each version of a type', async () => {
    const second = contract({ version: 2, schemaJson: undefined, fingerprint: undefined });
    expect(await register(second, contract(), contract({ type: 'report' }))).toEqual([]);
    expect(await list()).toMatchObject([
      { type: 'invoice.send', version: 1, jsonSchema: { type: 'object' }, fingerprint: 'a' },
      { type: 'invoice.send', version: 2, jsonSchema: undefined, fingerprint: undefined },
      { type: 'report', version: 1, jsonSchema: { type: 'object' }, fingerprint: 'a' },
    ]);
  });

  it('writes nothing, and locks nothing, when nothing has changed', async () => {
    await register(contract(), contract({ version: 2 }));
    const before = await places();
    await register(contract(), contract({ version: 2 }));
    await register(contract({ schemaJson: undefined, fingerprint: undefined }));
    expect(await places()).toEqual(before);
  });

  it('notes once an hour that a version is still in use', async () => {
    await register(contract());
    await test.database.execute(
      `update holdfast.payload_contracts
       set first_seen_at = first_seen_at - interval '2 days', last_seen_at = last_seen_at - interval '2 hours'`,
    );
    const [before] = await list();
    await register(contract());
    const [after] = await list();
    expect(after?.firstSeenAt).toEqual(before?.firstSeenAt);
    expect(after?.lastSeenAt.getTime()).toBeGreaterThan(before?.lastSeenAt.getTime() ?? Infinity);
  });

  it('tells of a schema that has changed under its version, and keeps the new one', async () => {
    await register(contract(), contract({ version: 2 }));
    const changed = contract({ schemaJson: '{"type":"string"}', fingerprint: 'b' });
    expect(await register(contract({ version: 2 }), changed)).toEqual([
      { type: 'invoice.send', version: 1 },
    ]);
    expect(await list()).toMatchObject([
      { version: 1, jsonSchema: { type: 'string' }, fingerprint: 'b' },
      { version: 2, jsonSchema: { type: 'object' }, fingerprint: 'a' },
    ]);
    expect(await register(changed)).toEqual([]);
  });

  it('learns of a schema later, without a word', async () => {
    await register(contract({ schemaJson: undefined, fingerprint: undefined }));
    expect(await register(contract())).toEqual([]);
    expect(await list()).toMatchObject([{ fingerprint: 'a' }]);
  });

  it('takes many workers that start at once, in whatever order they name their types', async () => {
    const types = Array.from({ length: 50 }, (_, index) => `type-${String(index)}`);
    const calls = Array.from({ length: 20 }, (_, call) => {
      const contracts = types.map((type) => contract({ type, fingerprint: String(call % 2) }));
      return register(...(call % 2 === 0 ? contracts : contracts.reverse()));
    });
    await Promise.all(calls);
    expect(await list()).toHaveLength(50);
  });

  it('is each project’s own', async () => {
    const other = randomUUID();
    await test.database.execute(
      `insert into holdfast.projects (id, slug, name) values ('${other}', 'p-${other}', 'Other')`,
    );
    await registerPayloadContracts(test.database, { projectId: other, contracts: [contract()] });
    expect(await register(contract({ fingerprint: 'b' }))).toEqual([]);
    await test.database.execute(`delete from holdfast.projects where id = '${other}'`);
    expect(await list()).toHaveLength(1);
  });
});

describe('payloads that wait', () => {
  it('are those of jobs that may still run, by type and version, page by page', async () => {
    const type = `waiting-${randomUUID()}`;
    const recipe = { type, payloadVersion: 3, payloadJson: '{"n":1}' };
    const waiting = [
      await factory.queued({ ...recipe, payloadVersion: 1 }),
      await factory.scheduled(recipe),
      await factory.claimed(recipe),
      await factory.running(recipe),
      await factory.failed(recipe),
    ].map(({ id }) => id);
    for (const status of ['completed', 'cancelled', 'dead_letter'] as const) {
      await factory.make(status, recipe);
    }
    await factory.queued({ type: `other-${randomUUID()}` });
    const counts = await countWaitingPayloads(test.database, projectId);
    expect(counts.filter((count) => count.type === type)).toEqual([
      { type, version: 1, jobCount: 1 },
      { type, version: 3, jobCount: 4 },
    ]);
    const page = (afterId: string | undefined) =>
      listWaitingPayloads(test.database, {
        projectId,
        names: [type, `${type}@3`],
        afterId,
        limit: 3,
      });
    const first = await page(undefined);
    const second = await page(first.at(-1)?.id);
    expect([...first, ...second].map(({ id }) => id)).toEqual([...waiting].sort());
    expect(first[0]).toMatchObject({ type, version: 1, payloadJson: '{"n": 1}' });
  });
});
