import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { afterAll, describe, expect, it } from 'vitest';
import { fencesOf, readPages, root } from './support/markdown.ts';

const samples = readPages()
  .flatMap(fencesOf)
  .filter(({ language, marks }) => language === 'ts' && marks.includes('check'));
const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-ts-'));

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the TypeScript of the documentation', () => {
  it('compiles under the settings of the repository', () => {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
    const files = samples.map(({ page, line, body }) => {
      const file = join(folder, `${page.path.replaceAll('/', '-')}-${String(line)}.ts`);
      writeFileSync(file, body);
      return file;
    });
    const program = ts.createProgram(files, compilerOptions());
    const problems = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => ({
      file: file?.fileName.slice(folder.length),
      problem: ts.flattenDiagnosticMessageText(messageText, '\n'),
    }));
    expect(problems).toEqual([]);
    expect(files.length).toBeGreaterThan(0);
  });
});

function compilerOptions(): ts.CompilerOptions {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.tests.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  return { ...config?.options, typeRoots: [join(root, 'node_modules/@types')] };
}
