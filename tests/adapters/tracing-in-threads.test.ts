import { join } from 'node:path';
import { createTestDatabase, spawnProcess } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  await db.drop();
});

describe('a handler in a thread', () => {
  it('has a span around it, in which it enqueues, whoever used the thread before', async () => {
    // A process of its own: threads run what is built, and the tests' own process runs the sources.
    const script = join(import.meta.dirname, 'fixtures', 'traced-threads.mjs');
    const program = spawnProcess({ script, env: { DATABASE_URL: db.url } });
    const { code } = await program.exited;
    expect(code, program.output()).toBe(0);
    const [line = ''] = /^\{.*\}$/m.exec(program.output()) ?? [];
    const { runs, parents } = JSON.parse(line) as Record<'runs' | 'parents', string[]>;
    expect(parents).toEqual(runs);
    expect(new Set(runs).size).toBe(3);
  });
});
