import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lifeCycleEvents } from '@holdfast/domain';
import { createEmptyDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../adapters/support/compile.ts';
import { fencesOf, readPage, root, tableRowsOf } from './support/markdown.ts';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const page = readPage('docs/guides/events.md');
const source = fencesOf(page).find(({ marks }) => marks.includes('program'))?.body ?? '';
const folder = mkdtempSync(join(tmpdir(), 'holdfast-events-'));
const program = join(folder, 'events.ts');
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

describe('the guide about events', () => {
  it('has a program that prints what its comment says', async () => {
    const [, promised = 'no promise'] = /\/\/ (.+)$/m.exec(source) ?? [];
    const args = ['--conditions=@holdfast/source', '--import', tsx, program];
    const { stdout } = await run(process.execPath, args, {
      env: { ...process.env, DATABASE_URL: db.url },
    });
    expect(stdout).toBe(`${promised}\n`);
  });

  it('has a program that compiles, and does not with other data', () => {
    expect(compile([program])).toEqual([]);
    const wrong = join(folder, 'wrong.ts');
    writeFileSync(wrong, source.replace("name: 'Ada' }", 'name: 7 }'));
    expect(compile([wrong]).join()).toContain("Type 'number' is not assignable to type 'string'");
    writeFileSync(wrong, source.replace('data: { name: string }', 'data: { nick: string }'));
    expect(compile([wrong])).not.toEqual([]);
  }, 120_000);

  it('lists every event of Holdfast’s own', () => {
    const listed = tableRowsOf(page).flatMap(([cell = '']) => {
      const [, name] = /^`([A-Z]\w+)`$/.exec(cell) ?? [];
      return name === undefined ? [] : [name];
    });
    expect(listed).toEqual(Object.keys(lifeCycleEvents));
  });
});
