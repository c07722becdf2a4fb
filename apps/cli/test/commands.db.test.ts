import { fileURLToPath } from 'node:url';
import { createEmptyDatabase, createTestDatabase, spawnProcess } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDatabase } from '@holdfast/testing';

const script = fileURLToPath(new URL('../bin/holdfast.js', import.meta.url));

let test: TestDatabase;

beforeAll(async () => {
  test = await createTestDatabase();
});

afterAll(async () => {
  await test.drop();
});

async function holdfast(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const process = spawnProcess({ script, args, env });
  const { code } = await process.exited;
  return { code, output: process.output() };
}

describe('holdfast', () => {
  it('says what it can do, and what was wrong with a command', async () => {
    const help = await holdfast(['--help']);
    expect(help.code).toBe(0);
    for (const command of ['up', 'migrate', 'doctor', 'jobs', 'queues']) {
      expect(help.output).toContain(command);
    }
    expect((await holdfast(['jbos'])).code).toBe(2);
  });
});

describe('holdfast migrate', () => {
  it('has nothing to do on a database that is up to date', async () => {
    const env = { DATABASE_URL: test.url };
    expect(await holdfast(['migrate'], env)).toMatchObject({ code: 0 });
    expect((await holdfast(['migrate', '--dry-run'], env)).output).toContain('up to date');
  });

  it('prints the SQL for another schema without making it', async () => {
    const env = { DATABASE_URL: test.url, HOLDFAST_SCHEMA: 'elsewhere' };
    const planned = await holdfast(['migrate', '--dry-run'], env);
    expect(planned.code).toBe(0);
    expect(planned.output).toContain('create table "elsewhere".jobs');
    const again = await holdfast(['migrate', '--dry-run'], env);
    expect(again.output).toBe(planned.output);
    expect((await holdfast(['migrate'], env)).output).toContain('applied');
    expect((await holdfast(['doctor'], env)).output).toContain('✔ schema');
  });
});

describe('five processes that migrate an empty database at once', () => {
  it('all succeed, and each migration is applied once', async () => {
    const empty = await createEmptyDatabase();
    try {
      const env = { DATABASE_URL: empty.url };
      const runs = await Promise.all(Array.from({ length: 5 }, () => holdfast(['migrate'], env)));
      expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0]);
      // Those that run outside of a transaction may each be another process's.
      const counts = runs.map(({ output }) => Number(/(\d+) applied/.exec(output)?.[1] ?? 0));
      const version = Number(/schema version (\d+)/.exec(runs[0]?.output ?? '')?.[1]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(version);
      expect((await holdfast(['doctor'], env)).output).toContain('✔ schema');
    } finally {
      await empty.drop();
    }
  });
});

describe('holdfast doctor', () => {
  it('finds a sound database sound, and warns about settings that lose data', async () => {
    const { code, output } = await holdfast(['doctor', '--json'], { DATABASE_URL: test.url });
    expect(code).toBe(0);
    const findings = JSON.parse(output) as readonly { readonly check: string }[];
    expect(findings).toContainEqual(expect.objectContaining({ check: 'schema', verdict: 'ok' }));
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'search path', verdict: 'ok' }),
    );
    // The server of the tests is a throw-away one.
    expect(findings).toContainEqual({
      check: 'durability',
      verdict: 'warning',
      detail: expect.stringContaining('fsync is off') as string,
    });
  });

  it('exits with 1 when the schema is missing, and with 69 when there is no server', async () => {
    const missing = await holdfast(['doctor'], {
      DATABASE_URL: test.url,
      HOLDFAST_SCHEMA: 'nowhere',
    });
    expect(missing.code).toBe(1);
    expect(missing.output).toContain('run "holdfast migrate"');
    const gone = await holdfast(['doctor'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    expect(gone.code).toBe(69);
  });

  it('needs to know the database', async () => {
    const { code, output } = await holdfast(['doctor']);
    expect(code).toBe(78);
    expect(output).toContain('DATABASE_URL: is required');
  });
});
