import ts from 'typescript';
import { compilerOptions } from '../../adapters/support/compile.ts';

/** A member of a type: its name, and what its docstring says. */
export interface TypeMember {
  readonly name: string;
  readonly docstring: string;
}

/** The members of each type that a file exports by an alias, by the alias's name. */
export function membersOf(path: string): ReadonlyMap<string, readonly TypeMember[]> {
  const program = ts.createProgram([path], compilerOptions());
  const checker = program.getTypeChecker();
  const aliases = program.getSourceFile(path)?.statements.filter(ts.isTypeAliasDeclaration) ?? [];
  return new Map(
    aliases.map((alias) => [
      alias.name.text,
      checker
        .getTypeAtLocation(alias)
        .getProperties()
        .map((symbol) => ({
          name: symbol.name,
          docstring: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
        })),
    ]),
  );
}
