import type { Page } from './markdown.ts';
import { callsOf, setUpOf } from './call-tables.ts';
import type { DocumentedCall } from './call-tables.ts';

const fixtureNames = [
  ...['job', 'later', 'failed', 'deadLetter', 'running', 'batch', 'client', 'tomorrow'],
];

/**
 * The calls of a page as one program: what the page sets up becomes a function, and so does each call, which is given
 * only the names that it says.
 *
 * @param runner the path of `call-runner.ts`
 */
export function callProgramOf(page: Page, runner: string): string {
  const { imports, body, names } = partsOf(setUpOf(page));
  const calls = callsOf(page).map((call) => `  ${entryOf(call, names)},`);
  return `import { runCalls } from '${runner}';
import type { CallFixtures, CallOf } from '${runner}';
import type { JobContext } from 'holdfast';
${imports}

const setUp = () => {
${body}
  return { ${names.join(', ')} };
};

type Names = ReturnType<typeof setUp> & CallFixtures;

export const calls: readonly CallOf<Names>[] = [
${calls.join('\n')}
];

await runCalls(setUp, calls);
`;
}

function entryOf({ text, row }: DocumentedCall, names: readonly string[]): string {
  const label = `row: ${JSON.stringify(row)}, text: ${JSON.stringify(text)}`;
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
