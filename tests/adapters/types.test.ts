import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { compile } from './support/compile.ts';
import { makeSampleFolder } from './support/sample-folder.ts';

const samples = makeSampleFolder();

afterAll(() => {
  samples.remove();
});

it(
  'infers the own type of each library for tx, and compiles the programs of the guide',
  { timeout: 180_000 },
  () => {
    const inferred = join(import.meta.dirname, 'support', 'inferred-types.ts');
    expect(compile([inferred, ...samples.programs])).toEqual([]);
  },
);
