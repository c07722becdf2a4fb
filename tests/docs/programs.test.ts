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
const folder = mkdtempSync(join(tmpdir(), 'holdfast-programs-'));
const lastComments = /((?:\n\/\/ .+)+)$/;
/** How many programs each page has that end with what they print. */
const pages = { sdk: 2, schedules: 1, retries: 1, events: 1, 'payload-versions': 1 } as const;
const programs = Object.keys(pages).flatMap((page) =>
  fencesOf(readPage(`docs/guides/${page}.md`))
    .filter(({ marks, body }) => marks.includes('program') && lastComments.test(body))
    .map(({ line, body }) => ({
      ...{ page, line, body },
      file: join(folder, `${page}-${String(line)}.ts`),
    })),
);
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

describe('the programs of the guides', () => {
  it('compile, and none of them is missing', () => {
    expect(compile(programs.map(({ file }) => file))).toEqual([]);
    const counts = Object.keys(pages).map((page) => [
      page,
      programs.filter((program) => program.page === page).length,
    ]);
    expect(Object.fromEntries(counts)).toEqual(pages);
  }, 120_000);

  it.each(programs)(
    'print what their last comments say: $page, line $line',
    async ({ file, body }) => {
      const [, promised = 'no promise'] = lastComments.exec(body) ?? [];
      const args = ['--conditions=@holdfast/source', '--import', tsx, file];
      const { stdout } = await run(process.execPath, args, {
        env: { ...process.env, DATABASE_URL: db.url },
      });
      expect(stdout).toBe(`${promised.trimStart().replaceAll(/^\/\/ /gm, '')}\n`);
    },
    120_000,
  );
});
