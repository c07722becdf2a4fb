import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../adapters/support/compile.ts';
import { outcomes } from './support/call-outcomes.ts';
import { callProgramOf } from './support/call-program.ts';
import type { CallResult } from './support/call-runner.ts';
import { callsOf, emptyCellsOf, strayCodeOf } from './support/call-tables.ts';
import { readPages, root } from './support/markdown.ts';
import type { Page } from './support/markdown.ts';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const pages = readPages().filter(({ path }) => path.startsWith('docs/guides/coming-from-'));
const folder = mkdtempSync(join(tmpdir(), 'holdfast-calls-'));

beforeAll(() => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  const runner = join(root, 'tests/docs/support/call-runner.ts');
  for (const page of pages) writeFileSync(programOf(page), callProgramOf(page, runner));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('compiles every call of the tables under the settings of the repository', () => {
  expect(pages.length).toBeGreaterThan(0);
  expect(compile(pages.map(programOf))).toEqual([]);
}, 120_000);

it('expects something of every call, and of none that no table has', () => {
  const texts = new Set(pages.flatMap(callsOf).map(({ text }) => text));
  expect([...texts].filter((text) => !(text in outcomes))).toEqual([]);
  expect(Object.keys(outcomes).filter((text) => !texts.has(text))).toEqual([]);
});

describe.each(pages.map((page) => [page.path, page] as const))('%s', (_path, page) => {
  let db: TestDatabase;
  let results: readonly CallResult[];

  beforeAll(async () => {
    db = await createTestDatabase();
    const file = `${programOf(page)}.json`;
    await run(
      process.execPath,
      ['--conditions=@holdfast/source', '--import', tsx, programOf(page)],
      {
        env: { ...process.env, DATABASE_URL: db.url, CALL_RESULTS: file },
      },
    );
    results = JSON.parse(readFileSync(file, 'utf8')) as readonly CallResult[];
  }, 180_000);

  afterAll(async () => {
    await db.drop();
  });

  it('has a call of Holdfast in every row, or says that there is none', () => {
    expect(emptyCellsOf(page)).toEqual([]);
    expect(strayCodeOf(page)).toEqual([]);
  });

  it.each(callsOf(page).map(({ text, row }, index) => [text, row, index] as const))(
    '%s does what the table says of %s',
    (text, row, index) => {
      const result = results[index];
      expect(result).toMatchObject({ text, row });
      expect(result?.error).toBeUndefined();
      expect(result).toMatchObject(outcomes[text] ?? {});
    },
  );
});

function programOf(page: Page): string {
  return join(folder, `${basename(page.path, '.md')}.ts`);
}
