import { statements } from '@holdfast/database';
import { createTestDatabase, defaultProjectId } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import { openExplainer } from './support/query-plan.ts';
import type { Statement } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';
import type { Explainer } from './support/query-plan.ts';

let test: TestDatabase;
let projectId: string;
let explainer: Explainer;

/** A week of events that were told, and some that wait. */
beforeAll(async () => {
  test = await createTestDatabase();
  projectId = await defaultProjectId(test.database);
  const connection = await openHandConnection(test.url);
  await connection.run(`
    insert into holdfast.events (project_id, event, position, occurred_at)
    select '${projectId}', 'JobProcessed', nextval('holdfast.event_position'), now() - g * interval '5 seconds'
    from generate_series(1, 100000) as g;
    insert into holdfast.events (project_id, event)
    select '${projectId}', 'JobProcessed' from generate_series(1, 1000);
    insert into holdfast.event_subscriptions (project_id, id, event, job_type, job)
    values ('${projectId}', gen_random_uuid(), 'JobProcessed', 'listener', '{"type":"listener","queue":"l"}');
  `);
  await connection.run('vacuum analyze holdfast.events');
  await connection.close();
  explainer = await openExplainer(test.url, 'general');
}, 120_000);
afterAll(async () => {
  await explainer.close();
  await test.drop();
});

const weekMs = '604800000';

interface Expectation {
  readonly statement: Statement;
  readonly values: () => readonly string[];
  readonly index: string;
  readonly maxBlocks: number;
}

const expectations: readonly Expectation[] = [
  {
    statement: statements.numberEvents,
    values: () => ['10', '{JobProcessed}'],
    index: 'events_pending',
    maxBlocks: 400,
  },
  {
    statement: statements.readOutboxState,
    values: () => [],
    index: 'events_pending',
    maxBlocks: 20,
  },
  {
    statement: statements.listNewestPositions,
    values: () => [`{${projectId}}`],
    index: 'events_in_order',
    maxBlocks: 20,
  },
  {
    statement: statements.forgetEvents,
    values: () => [weekMs, '10'],
    index: 'events_age',
    maxBlocks: 200,
  },
];

describe('with a week of events, a statement of the outbox', () => {
  it.each(expectations.map((each) => [each.statement.name, each] as const))(
    '%s finds its rows by an index and touches few blocks',
    async (_name, { statement, values, index, maxBlocks }) => {
      const plan = await explainer.explain(statement, values());
      expect(plan.indexes).toContain(index);
      expect(plan.scannedTables).not.toContain('events');
      expect(plan.blockCount).toBeLessThanOrEqual(maxBlocks);
    },
  );

  it('list_events reads no more than its page', async () => {
    // An optional filter cannot be given as text to a prepared call.
    const text = statements.listEvents.text
      .replaceAll('$3::text[]', 'null::text[]')
      .replace('$4', '$3');
    const statement = { name: 'list_events', text };
    const plan = await explainer.explain(statement, [projectId, '50000', '10']);
    expect(plan.indexes).toContain('events_in_order');
    expect(plan.scannedTables).not.toContain('events');
    expect(plan.blockCount).toBeLessThanOrEqual(40);
  });
});
