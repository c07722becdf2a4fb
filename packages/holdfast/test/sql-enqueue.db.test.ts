import { createQueue } from '@holdfast/database';
import { createJobFactory } from '@holdfast/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHoldfast } from './support/open-holdfast.ts';
import { query, readRows } from './support/stored-rows.ts';
import type { JobOptions } from 'holdfast';
import type { StoredRow } from './support/stored-rows.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;

beforeAll(async () => {
  test = await openHoldfast();
  const { database } = test.server;
  const { projectId } = await createJobFactory(database);
  const backoff = { kind: 'fixed', delayMs: 1_000 } as const;
  const jobDefaults = { maxAttempts: 9, retry: { mode: 'manual', backoff } } as const;
  await createQueue(database, { projectId, name: 'with-defaults', settings: { jobDefaults } });
});
afterAll(() => test.close());

const duration = fc.oneof(
  fc.nat(100_000_000).map((ms) => ms + 1_000),
  fc.constantFrom('90s', '5m', '1.5h', 'PT2M', 'P1DT1H'),
);
const word = fc.stringMatching(/^[a-zäé\u{1f600} ]{1,20}$/u);
const instant = fc.integer({ min: -86_400_000, max: 86_400_000_000 }).map((ms) => {
  const at = Date.now() + ms;
  // Not so near to now that the two calls might see it on different sides.
  return new Date(Math.abs(ms) < 60_000 ? at + 120_000 : at);
});
const held = fc.oneof(
  fc.constant({}),
  fc.constant({ until: 'start' as const }),
  duration.map((ttl) => ({ until: 'ttl' as const, ttl })),
);
const conflict = fc.oneof(
  fc.constant({}),
  fc.constantFrom('keep' as const, 'replace' as const, 'reject' as const).map((onConflict) => ({
    onConflict,
  })),
);
const scope = fc.constantFrom(undefined, 'type' as const, 'queue' as const, 'project' as const);
const unique = fc.oneof(
  fc.tuple(scope, held, conflict).map(([of, until, mode]) => ({ scope: of, ...until, ...mode })),
  scope.map((of) => ({ scope: of, onConflict: 'queue_latest' as const })),
  fc.tuple(scope, duration).map(([of, wait]) => ({
    ...{ scope: of, wait, onConflict: 'debounce' as const },
  })),
);

const settings = fc.record(
  {
    priority: fc.integer({ min: 0, max: 9 }),
    tags: fc.uniqueArray(word, { maxLength: 5 }),
    metadata: fc.dictionary(word, fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>, {
      maxKeys: 3,
    }),
    maxAttempts: fc.integer({ min: 1, max: 100 }),
    timeout: fc.constantFrom(1, 250, '90s', 'PT2M', '1d'),
    startDeadline: fc.oneof(duration, instant),
    payloadVersion: fc.constantFrom(1, 2, 32_767),
  },
  { requiredKeys: [] },
);
const time = fc.oneof(
  fc.constant({}),
  duration.map((delay) => ({ delay })),
  fc.constant({ delay: 0 }),
  instant.map((runAt) => ({ runAt })),
);
const options: fc.Arbitrary<JobOptions> = fc
  .tuple(settings, time, fc.option(fc.tuple(word, unique), { nil: undefined }))
  .map(([more, when, key]) => ({
    ...more,
    ...(key?.[1].onConflict === 'debounce' ? {} : when),
    ...(key === undefined ? {} : { unique: { key: key[0], ...key[1] } }),
  }));

/** What is of one enqueue only. */
const own = ['id', 'seq', 'created_at', 'run_at', 'delay_ms', 'start_deadline_at'];

function comparable(row: StoredRow): StoredRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !own.includes(name)));
}

/** Milliseconds from the insert to an instant of the row. */
function msUntil(row: StoredRow, column: string): number {
  const at = row[column];
  const from = row['created_at'];
  return at instanceof Date && from instanceof Date ? at.getTime() - from.getTime() : -1;
}

describe('holdfast.enqueue in SQL and enqueue in the SDK', () => {
  it('make the same row of the same options', async () => {
    const payload = fc.jsonValue({ maxDepth: 3 });
    const queue = fc.constantFrom('default', 'with-defaults');
    await fc.assert(
      fc.asyncProperty(options, payload, queue, async (given, content, name) => {
        await query(test.server.url, 'delete from holdfast.jobs', []);
        await query(test.server.url, 'delete from holdfast.unique_locks', []);
        const { id } = await test.holdfast.enqueue('test.sql', content, { ...given, queue: name });
        const [bySdk] = await readRows(test.server.url, [id]);
        await query(test.server.url, 'delete from holdfast.jobs', []);
        await query(test.server.url, 'delete from holdfast.unique_locks', []);
        const [made] = await query(
          test.server.url,
          `select holdfast.enqueue('default', $1, 'test.sql', $2::jsonb, $3::jsonb) as id`,
          [name, JSON.stringify(content), JSON.stringify(given)],
        );
        const [bySql] = await readRows(test.server.url, [String(made?.['id'])]);
        if (bySdk === undefined || bySql === undefined) throw new Error('Both make a job');
        expect(comparable(bySql)).toEqual(comparable(bySdk));
        for (const column of ['run_at', 'start_deadline_at']) {
          // An instant is the same for both, a duration begins with each insert: the calls lie seconds apart.
          const difference = Math.abs(msUntil(bySql, column) - msUntil(bySdk, column));
          expect(difference).toBeLessThan(10_000);
        }
      }),
      { numRuns: 40 },
    );
  });
});
