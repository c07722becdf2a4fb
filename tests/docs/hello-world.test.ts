import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createEmptyDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../adapters/support/compile.ts';
import { fencesOf, readPage, root } from './support/markdown.ts';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const fence = fencesOf(readPage('README.md')).find(({ marks }) => marks.includes('program'));
const source = fence?.body ?? '';
const folder = mkdtempSync(join(tmpdir(), 'holdfast-hello-'));
const program = join(folder, 'hello.ts');
let db: TestDatabase;

beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  writeFileSync(program, source);
  db = await createEmptyDatabase();
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await db.drop();
});

describe('the program in the README', () => {
  it('has at most ten lines, and compiles', () => {
    expect(source.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(10);
    expect(compile([program])).toEqual([]);
  }, 120_000);

  it('prints what its comment says, in an empty database', async () => {
    const [, promised = 'no promise'] = /\/\/ (.+)$/m.exec(source) ?? [];
    const args = ['--conditions=@holdfast/source', '--import', tsx, program];
    const { stdout } = await run(process.execPath, args, {
      env: { ...process.env, DATABASE_URL: db.url },
    });
    expect(stdout).toBe(`${promised}\n`);
  });
});
