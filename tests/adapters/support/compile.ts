import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../../docs/support/markdown.ts';

/** What the compiler says against the files, under the settings of the repository's tests. */
export function compile(files: readonly string[]): readonly string[] {
  const program = ts.createProgram(files, compilerOptions());
  return files.flatMap((name) => {
    const file = program.getSourceFile(name);
    // Only what is in the files: what they import is checked with the rest of the repository.
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
  });
}

/** The settings of the repository’s tests, as a file beside them would be compiled. */
export function compilerOptions(): ts.CompilerOptions {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.tests.json'),
    {},
    { ...ts.sys, onUnRecoverableConfigFileDiagnostic: () => undefined },
  );
  return {
    ...config?.options,
    typeRoots: [join(root, 'node_modules/@types')],
    // Applications rarely have this one, and the samples read an environment variable.
    noPropertyAccessFromIndexSignature: false,
  };
}
