import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatted } from './formatted.mjs';
import { importBuilt } from './import-built.mjs';

const output = 'docs/state-machine.md';
const begin =
  '<!-- begin: made from packages/domain/src/job-transitions.ts by npm run generate -->';
const end = '<!-- end -->';

/**
 * The transitions become a diagram and a table inside the page about the state machine. Everything
 * outside of the two marks is written by people and is kept.
 */
export const stateMachine = {
  name: 'state machine',
  needsBuild: true,
  async generate({ root }) {
    const { jobTransitions } = await importBuilt(root, 'packages/domain/dist/job-transitions.js');
    const transitions = Object.entries(jobTransitions).map(([name, rest]) => ({ name, ...rest }));
    const block = [begin, '', ...diagram(transitions), '', ...table(transitions), '', end];
    const text = replaceBlock(currentPage(root), block.join('\n'));
    return [await formatted(root, { path: output, text })];
  },
};

function currentPage(root) {
  const file = join(root, output);
  return existsSync(file)
    ? readFileSync(file, 'utf8')
    : `# The life of a job\n\n${begin}\n${end}\n`;
}

function replaceBlock(page, block) {
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error(`${output} has lost its marks ${begin} and ${end}`);
  return page.slice(0, from) + block + page.slice(to + end.length);
}

function diagram(transitions) {
  const labels = new Map();
  for (const { name, from, to } of transitions) {
    for (const source of from.length === 0 ? ['[*]'] : from) {
      const arrow = `${source} --> ${to}`;
      labels.set(arrow, [...(labels.get(arrow) ?? []), name]);
    }
  }
  const arrows = [...labels].map(([arrow, names]) => `  ${arrow}: ${names.join(', ')}`);
  return ['```mermaid', 'stateDiagram-v2', ...arrows, '```'];
}

function table(transitions) {
  const rows = transitions.map(
    ({ name, from, to, by, why }) =>
      `| \`${name}\` | ${from.join(', ') || '(new)'} | ${to} | ${by} | ${why} |`,
  );
  return ['| transition | from | to | made by | why |', '| --- | --- | --- | --- | --- |', ...rows];
}
