import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnProcess } from '@holdfast/testing';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-examples-'));
const printUrl = 'console.log(process.env.DATABASE_URL); process.exitCode = 7';

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function runWith(env: Readonly<Record<string, string>>) {
  const script = join(import.meta.dirname, '../../with-postgres.mjs');
  return spawnProcess({ script, args: [process.execPath, '-e', printUrl], env });
}

describe('with-postgres.mjs', () => {
  it('hands DATABASE_URL on, and the exit code back', async () => {
    const url = 'postgres://shop@db.example.com/shop';
    const program = runWith({ DATABASE_URL: url });
    expect(await program.exited).toEqual({ code: 7, signal: null });
    expect(program.output()).toBe(`${url}\n`);
  });

  it('starts a server when there is none, and stops it after the command', async () => {
    const program = runWith({ HOLDFAST_DATA_DIR: folder, HOME: folder });
    expect(await program.exited).toEqual({ code: 7, signal: null });
    expect(program.output()).toMatch(/^postgres:\/\/\S+@127\.0\.0\.1:\d+\/postgres$/m);
    expect(existsSync(join(folder, 'pg', 'postmaster.pid'))).toBe(false);
  });
});
