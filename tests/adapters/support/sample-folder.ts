import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fencesOf, readPage, root } from '../../docs/support/markdown.ts';

const adapterTests = join(root, 'tests', 'adapters');

/** The programs of the guide as files, in a folder that has the libraries, Holdfast, and a generated Prisma client. */
export interface SampleFolder {
  readonly programs: readonly string[];
  /** A program that runs all of them, one after the other. */
  readonly all: string;
  remove(): void;
}

/** Writes every sample of the guide about transactions into a folder of its own. */
export function makeSampleFolder(): SampleFolder {
  const outer = mkdtempSync(join(tmpdir(), 'holdfast-samples-'));
  const folder = join(outer, 'samples');
  mkdirSync(folder);
  // The libraries are found first, and Holdfast in the folder above.
  symlinkSync(join(root, 'node_modules'), join(outer, 'node_modules'));
  symlinkSync(join(adapterTests, 'node_modules'), join(folder, 'node_modules'));
  symlinkSync(join(adapterTests, 'prisma', 'generated'), join(folder, 'generated'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  for (const { name, body } of samples()) writeFileSync(join(folder, `${name}.ts`), `${body}\n`);
  const all = join(folder, 'all.ts');
  writeFileSync(
    all,
    sampleNames()
      .map((name) => `await import('./${name}.ts');\n`)
      .join(''),
  );
  return {
    programs: sampleNames().map((name) => join(folder, `${name}.ts`)),
    all,
    remove: () => {
      rmSync(outer, { recursive: true, force: true });
    },
  };
}

/** The names of the programs: all samples but the module that they share. */
export function sampleNames(): readonly string[] {
  return samples().flatMap(({ name }) => (name === 'jobs' ? [] : [name]));
}

function samples(): readonly { readonly name: string; readonly body: string }[] {
  return fencesOf(readPage('docs/guides/transactions.md')).flatMap(({ marks, body }) => {
    const mark = marks.find((word) => word.startsWith('sample='));
    return mark === undefined ? [] : [{ name: mark.slice('sample='.length), body }];
  });
}
