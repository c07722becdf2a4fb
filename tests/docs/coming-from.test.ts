import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../adapters/support/compile.ts';
import { outcomes } from './support/call-outcomes.ts';
import { callProgramOf } from './support/call-program.ts';
import type { CallResult } from './support/call-runner.ts';
import { cellsOf, emptyCellsOf, setUpOf, strayCodeOf } from './support/call-tables.ts';
import { readPages, root } from './support/markdown.ts';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const pages = readPages().filter(({ path }) => path.startsWith('docs/guides/coming-from-'));
const setUps = new Set(pages.map(setUpOf));
/** Each cell once, since many are on several pages. */
const cells = [
  ...new Map(pages.flatMap(cellsOf).map(({ texts }) => [texts.join('\n'), texts])).values(),
];
const folder = mkdtempSync(join(tmpdir(), 'holdfast-calls-'));
const program = join(folder, 'calls.ts');
const results = new Map<string, CallResult[]>();
let db: TestDatabase;

beforeAll(async () => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  const [setUp = ''] = setUps;
  const runner = join(root, 'tests/docs/support/call-runner.ts');
  writeFileSync(program, callProgramOf(cells, { setUp, runner }));
  db = await createTestDatabase();
  const file = join(folder, 'results.json');
  await run(process.execPath, ['--conditions=@holdfast/source', '--import', tsx, program], {
    env: {
      ...process.env,
      DATABASE_URL: db.url,
      HOLDFAST_TEST_DATABASE_URL: db.url,
      CALL_RESULTS: file,
    },
  });
  for (const result of JSON.parse(readFileSync(file, 'utf8')) as readonly CallResult[]) {
    results.set(result.text, [...(results.get(result.text) ?? []), result]);
  }
}, 240_000);

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await db.drop();
});

describe('the calls in the tables of the guides', () => {
  it('compile under the settings of the repository', () => {
    expect(compile([program])).toEqual([]);
  }, 120_000);

  it('refer to the same program on every page', () => {
    expect(pages.length).toBeGreaterThan(0);
    expect([...setUps]).toHaveLength(1);
  });

  it('are all expected to come to something, and nothing else is', () => {
    const texts = new Set(cells.flat());
    expect([...texts].filter((text) => !(text in outcomes))).toEqual([]);
    expect(Object.keys(outcomes).filter((text) => !texts.has(text))).toEqual([]);
  });
});

describe.each(pages.map((page) => [page.path, page] as const))('%s', (_path, page) => {
  it('has a call of Holdfast in every row, or says that there is none', () => {
    expect(emptyCellsOf(page)).toEqual([]);
    expect(strayCodeOf(page)).toEqual([]);
  });

  it.each(cellsOf(page).flatMap(({ texts, row }) => texts.map((text) => [text, row] as const)))(
    '%s does what the table says of %s',
    (text) => {
      const found = results.get(text) ?? [];
      expect(found.length).toBeGreaterThan(0);
      for (const result of found) {
        expect(result.error).toBeUndefined();
        expect(result).toMatchObject(outcomes[text] ?? {});
      }
    },
  );
});
