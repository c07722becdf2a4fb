import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createEmptyDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../adapters/support/compile.ts';
import { fencesOf, readPage, root, tableRowsOf } from './support/markdown.ts';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const page = readPage('docs/guides/tracing.md');
const outer = mkdtempSync(join(tmpdir(), 'holdfast-tracing-guide-'));
const file = join(outer, 'program', 'program.ts');
const body = fencesOf(page).find(({ marks }) => marks.includes('program'))?.body ?? '';
let db: TestDatabase;

beforeAll(async () => {
  mkdirSync(join(outer, 'program'));
  // OpenTelemetry's SDK is found first, and Holdfast in the folder above.
  symlinkSync(join(root, 'node_modules'), join(outer, 'node_modules'));
  symlinkSync(join(root, 'tests/adapters/node_modules'), join(outer, 'program/node_modules'));
  writeFileSync(join(outer, 'program', 'package.json'), '{ "type": "module" }\n');
  writeFileSync(file, body);
  db = await createEmptyDatabase();
});
afterAll(async () => {
  rmSync(outer, { recursive: true, force: true });
  await db.drop();
});

describe('the guide about tracing', () => {
  it('has a program that compiles', () => {
    expect(compile([file])).toEqual([]);
  }, 120_000);

  it('has a program that prints what its last comments say', async () => {
    const [promised = 'no promise'] = /(?:\n\/\/ .+)+$/.exec(body) ?? [];
    const args = ['--conditions=@holdfast/source', '--import', tsx, file];
    const env = { ...process.env, DATABASE_URL: db.url };
    const { stdout } = await run(process.execPath, args, { env });
    expect(stdout).toBe(`${promised.trimStart().replaceAll(/^\/\/ /gm, '')}\n`);
  }, 120_000);

  it('lists exactly the attributes that spans get', () => {
    const source = readFileSync(
      join(root, 'packages/holdfast/src/opentelemetry/span-attributes.ts'),
      'utf8',
    );
    const known = [...source.matchAll(/: '([a-z]+(?:\.[a-z_]+)+)'/g)].map(([, name]) => name);
    const listed = tableRowsOf(page)
      .map(([cell = '']) => /^`([a-z]+(?:\.[a-z_]+)+)`$/.exec(cell)?.[1])
      .filter((name) => name !== undefined);
    expect(listed.toSorted()).toEqual(known.toSorted());
    expect(listed.length).toBeGreaterThan(10);
  });
});
