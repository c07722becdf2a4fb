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
const page = readPage('docs/guides/batches-chains-graphs.md');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-batches-guide-'));
const programs = fencesOf(page)
  .filter(({ marks }) => marks.includes('program'))
  .map(({ line, body }) => ({ line, body, file: join(folder, `line-${String(line)}.ts`) }));
let db: TestDatabase;

beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  for (const { file, body } of programs) writeFileSync(file, body);
  db = await createEmptyDatabase();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await db.drop();
});

describe('the guide about batches, chains and graphs', () => {
  it('has programs that compile', () => {
    expect(compile(programs.map(({ file }) => file))).toEqual([]);
    expect(programs).toHaveLength(4);
  }, 120_000);

  it.each(programs)(
    'has a program in line $line that prints what its last comments say',
    async ({ file, body }) => {
      const [, promised = 'no promise'] = /((?:\n\/\/ .+)+)$/.exec(body) ?? [];
      const args = ['--conditions=@holdfast/source', '--import', tsx, file];
      const { stdout } = await run(process.execPath, args, {
        env: { ...process.env, DATABASE_URL: db.url },
      });
      expect(stdout).toBe(`${promised.trimStart().replaceAll(/^\/\/ /gm, '')}\n`);
    },
    120_000,
  );
});
