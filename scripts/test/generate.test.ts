import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const sql = 'packages/database/sql';
const migrations = 'packages/database/migrations';
const generated = 'packages/database/src/generated';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-generate-'));
  cpSync(dirname(import.meta.dirname), join(root, 'scripts'), { recursive: true });
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function generate(...flags: readonly string[]) {
  const args = ['scripts/generate.mjs', '--for-build', ...flags];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
  });
  return { exitCode: status, output: stdout + stderr };
}

describe('statements', () => {
  it('are named in camel case and lose their comments but not their quoted text', () => {
    write(
      `${sql}/jobs.sql`,
      [
        '-- The life of a job.',
        '-- name: claim_jobs',
        '-- queued -> claimed',
        "select '-- not; a comment', $1::bigint -- a comment",
        '',
        '/* another */ from holdfast.jobs;',
      ].join('\n'),
    );
    expect(generate().exitCode).toBe(0);
    const text = read(`${generated}/statements.ts`);
    expect(text).toContain('claimJobs: {');
    expect(text).toContain("name: 'claim_jobs'");
    expect(text).toContain("text: `select '-- not; a comment', $1::bigint\n from holdfast.jobs`");
  });

  it('with one name in two files are refused', () => {
    write(`${sql}/one.sql`, '-- name: same\nselect 1;\n');
    write(`${sql}/two.sql`, '-- name: same\nselect 2;\n');
    expect(generate()).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('same is defined in one.sql and in two.sql') as string,
    });
  });

  it('must stand alone in their block', () => {
    write(`${sql}/one.sql`, '-- name: both\nselect 1;\nselect 2;\n');
    expect(generate().output).toContain('both must hold one statement, but holds 2');
  });
});

describe('migrations', () => {
  it('carry their number, their checksum and whether they need a transaction', () => {
    write(`${migrations}/0001_first.sql`, 'create table a ();\n');
    write(`${migrations}/0002_second.sql`, '-- no-transaction\nselect `1`;\n');
    expect(generate().exitCode).toBe(0);
    const text = read(`${generated}/migrations.ts`);
    expect(text).toMatch(/version: 1,\s+name: 'first',\s+transactional: true/);
    expect(text).toMatch(/version: 2,\s+name: 'second',\s+transactional: false/);
    expect(text).toMatch(/checksum: '[0-9a-f]{64}'/);
  });

  it('may not leave a number out', () => {
    write(`${migrations}/0002_second.sql`, 'select 1;\n');
    expect(generate().output).toContain('has version 2 where 1 was expected');
  });
});

describe('--check', () => {
  it('names what is stale, and changes nothing', () => {
    write(`${sql}/one.sql`, '-- name: one\nselect 1;\n');
    generate();
    expect(generate('--check').exitCode).toBe(0);
    write(`${sql}/one.sql`, '-- name: one\nselect 2;\n');
    const before = read(`${generated}/statements.ts`);
    expect(generate('--check')).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining(`stale: ${generated}/statements.ts`) as string,
    });
    expect(read(`${generated}/statements.ts`)).toBe(before);
  });
});
