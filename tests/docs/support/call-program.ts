const fixtureNames = [
  ...['job', 'later', 'failed', 'deadLetter', 'batch', 'jobs', 'client', 'tomorrow'],
];

/**
 * Cells of tables as one program: what the pages set up becomes a function, and so does each call, which is given only
 * the names that it says.
 *
 * @param cells the calls of each cell
 * @param parts.setUp the source of what they refer to
 * @param parts.runner the path of `call-runner.ts`
 */
export function callProgramOf(
  cells: readonly (readonly string[])[],
  { setUp, runner }: { readonly setUp: string; readonly runner: string },
): string {
  const { imports, body, names } = partsOf(setUp);
  const entries = cells.map(
    (texts) => `  [\n${texts.map((text) => `    ${entryOf(text, names)},\n`).join('')}  ],`,
  );
  return `import { runCells } from '${runner}';
import type { CallFixtures, CallOf } from '${runner}';
import type { JobContext } from 'holdfast';
${imports}

const setUp = () => {
${body}
  return { ${names.join(', ')} };
};

type Names = ReturnType<typeof setUp> & CallFixtures;

const cells: readonly (readonly CallOf<Names>[])[] = [
${entries.join('\n')}
];

await runCells(setUp, cells);
`;
}

function entryOf(text: string, names: readonly string[]): string {
  const label = `text: ${JSON.stringify(text)}`;
  if (/^select\b/i.test(text)) return `{ ${label}, kind: 'sql' }`;
  if (text.startsWith('npx holdfast ')) return `{ ${label}, kind: 'command' }`;
  const known = [...names, ...fixtureNames];
  const said = known.filter((name) => new RegExp(`(?<![.\\w])${name}\\b(?!:)`).test(text));
  const given = said.length === 0 ? '' : `{ ${said.join(', ')} }: Names`;
  const statement = /^(?:return|throw|for|const) ?\b/.test(text) ? text : `return (${text})`;
  if (/\bctx\b/.test(text) || /^(?:return|throw)\b/.test(text)) {
    const context = /\bctx\b/.test(text) ? '_payload: unknown, ctx: JobContext' : '';
    const run = `(${given}) => async (${context}) => { ${statement}; }`;
    return `{ ${label}, kind: 'handler', run: ${run} }`;
  }
  return `{ ${label}, kind: 'call', uses: ${JSON.stringify(said)}, run: async (${given}) => { ${statement}; } }`;
}

/** Takes the block apart: imports stay outside of the function, and what it declares is handed out. */
function partsOf(source: string) {
  const importForm = /^import [^;]+;$/gm;
  const imports = (source.match(importForm) ?? []).join('\n');
  const body = source.replace(importForm, '').trim();
  const names = [...body.matchAll(/^(?:const|function) (\w+)/gm)].map(([, name = '']) => name);
  return { imports, body, names };
}
