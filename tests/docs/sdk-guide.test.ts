import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPage, root, tableRowsOf } from './support/markdown.ts';
import { membersOf } from './support/members-of.ts';
import type { TypeMember } from './support/members-of.ts';

/** Each table of the guide: the heading above it, and the type whose members it lists. */
const tables = [
  ['Options of `new Holdfast`', 'HoldfastOptions'],
  ['Options of `defineJob`', 'Parameters<typeof defineJob>[0]'],
  ['Options of `enqueue`', 'EnqueueOptions'],
  ['Options of `createWorker`', 'WorkerOptions'],
  ['What a handler gets', 'JobContext'],
] as const;

const page = readPage('docs/guides/sdk.md');
const folder = mkdtempSync(join(tmpdir(), 'holdfast-sdk-guide-'));
let types: ReadonlyMap<string, readonly TypeMember[]>;

beforeAll(() => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  const names = 'HoldfastOptions, defineJob, EnqueueOptions, WorkerOptions, JobContext';
  const aliases = tables.map(([, type], index) => `export type T${String(index)} = ${type};`);
  const file = join(folder, 'types.ts');
  writeFileSync(file, [`import type { ${names} } from 'holdfast';`, ...aliases].join('\n'));
  types = membersOf(file);
}, 120_000);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe.each(tables.map(([heading], index) => ({ heading, alias: `T${String(index)}` })))(
  'the table under "$heading"',
  ({ heading, alias }) => {
    const [head = [], ...rows] = tableRowsOf(sectionOf(heading));
    const membersOfTable = () => types.get(alias) ?? [];

    it('lists exactly what the type has', () => {
      const listed = rows.map(([cell = '']) => /^`(\w+)/.exec(cell)?.[1] ?? cell);
      const names = membersOfTable().map(({ name }) => name);
      expect(listed.toSorted()).toEqual(names.toSorted());
      expect(listed.length).toBeGreaterThan(5);
    });

    it.runIf(head.includes('default'))('gives the defaults that the docstrings give', () => {
      const shown = new Map(rows.map(([name = '', cell = '']) => [plain(name), plain(cell)]));
      const wrong = membersOfTable().flatMap(({ name, docstring }) => {
        const [, said] = /\bdefault:? ([^;.,)]+)/i.exec(docstring) ?? [];
        return said === undefined || shown.get(name) === plain(said) ? [] : [`${name}: ${said}`];
      });
      expect(wrong).toEqual([]);
    });
  },
);

function plain(cell: string): string {
  return cell.replaceAll('`', '');
}

function sectionOf(heading: string) {
  const [, after = ''] = page.text.split(`\n## ${heading}\n`);
  return { path: page.path, text: after.split('\n## ')[0] ?? '' };
}
