import ts from 'typescript';

/** All text literals of a module in their order, with the places between the quotes, and whether they name a module. */
export function readLiterals(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const literals = [];
  const visit = (node) => {
    if (ts.isStringLiteral(node)) {
      literals.push({
        value: node.text,
        start: node.getStart() + 1,
        end: node.getEnd() - 1,
        isImport: namesModule(node),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return literals;
}

function namesModule({ parent }) {
  if (ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent)) return true;
  if (ts.isCallExpression(parent)) return parent.expression.kind === ts.SyntaxKind.ImportKeyword;
  return ts.isLiteralTypeNode(parent) && ts.isImportTypeNode(parent.parent);
}
