import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fencesOf, readPage, root } from '../../docs/support/markdown.ts';

const adapterTests = join(root, 'tests', 'adapters');

/** The programs of the guide as files, in a folder that has the libraries, Holdfast, and a generated Prisma client. */
export interface SampleFolder {
  /** By the name behind `sample=`; without the module that the programs share. */
  readonly programs: Readonly<Record<string, string>>;
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
  const files = Object.fromEntries(
    samples().map(({ name, body }) => {
      const file = join(folder, `${name}.ts`);
      writeFileSync(file, `${body}\n`);
      return [name, file];
    }),
  );
  const { jobs: _shared, ...programs } = files;
  return {
    programs,
    remove: () => {
      rmSync(outer, { recursive: true, force: true });
    },
  };
}

/** The names of the programs, for a table of tests. */
export function sampleNames(): readonly string[] {
  return samples().flatMap(({ name }) => (name === 'jobs' ? [] : [name]));
}

function samples(): readonly { readonly name: string; readonly body: string }[] {
  return fencesOf(readPage('docs/guides/transactions.md')).flatMap(({ marks, body }) => {
    const mark = marks.find((word) => word.startsWith('sample='));
    return mark === undefined ? [] : [{ name: mark.slice('sample='.length), body }];
  });
}
