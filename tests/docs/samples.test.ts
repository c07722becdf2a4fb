import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { fileOf, startDocsStack } from './support/docs-stack.ts';
import type { DocsStack } from './support/docs-stack.ts';
import { fencesOf, readPages } from './support/markdown.ts';
import type { Fence, Page } from './support/markdown.ts';
import { runShell } from './support/run-shell.ts';

/** A sample that is run, with the answer that the page shows for it. */
interface ShellSample {
  readonly fence: Fence;
  readonly answer: Fence | undefined;
}

const pages = readPages();
const modules = pages.flatMap(fencesOf).filter((fence) => fileOf(fence) !== undefined);
const shellPages = pages
  .map((page) => ({ page, samples: shellSamplesOf(page) }))
  .filter(({ samples }) => samples.length > 0);
const sqlSamples = pages.flatMap(fencesOf).filter((fence) => isRunnable(fence, 'sql'));
const hasShell = ['bash', 'curl'].every(
  (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0,
);
if (!hasShell) console.warn('SKIPPED: the shell samples of the docs need bash and curl');

let stack: DocsStack;

beforeAll(async () => {
  stack = await startDocsStack(modules);
}, 120_000);

afterAll(async () => {
  await stack.stop();
});

describe.runIf(hasShell)('the commands of the documentation', () => {
  it.each(shellPages.map(({ page, samples }) => [page.path, samples] as const))(
    'work as %s shows them',
    async (_path, samples) => {
      onTestFailed(() => {
        console.error(stack.output());
      });
      const outputs = await runShell({
        samples: samples.map(({ fence }) => fence),
        folder: stack.folder,
        env: stack.env,
      });
      for (const [index, { answer }] of samples.entries()) {
        if (answer === undefined) continue;
        const shown: unknown = JSON.parse(answer.body);
        expect(JSON.parse(outputs[index] ?? ''), `line ${String(answer.line)}`).toMatchObject(
          withPlaceholders(shown) as object,
        );
      }
    },
    120_000,
  );
});

describe('the SQL of the documentation', () => {
  it.each(sqlSamples.map((fence) => [`${fence.page.path}:${String(fence.line)}`, fence] as const))(
    'is understood by the database: %s',
    async (_place, fence) => {
      await stack.db.database.execute(`begin; ${fence.body}; rollback;`);
    },
  );
});

function isRunnable(fence: Fence, language: string): boolean {
  return fence.language === language && fence.marks.includes('run');
}

function shellSamplesOf(page: Page): readonly ShellSample[] {
  const fences = fencesOf(page);
  return fences.flatMap((fence, index) => {
    if (!isRunnable(fence, 'sh')) return [];
    const next = fences[index + 1];
    const isAnswer = next?.language === 'json' && next.marks.includes('answer');
    return [{ fence, answer: isAnswer ? next : undefined }];
  });
}

/** In the pages `"…"` stands for any text, and `0` after `"…": ` is what it says. */
function withPlaceholders(shown: unknown): unknown {
  if (shown === '…') return expect.any(String);
  if (Array.isArray(shown)) return shown.map(withPlaceholders);
  if (typeof shown !== 'object' || shown === null) return shown;
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, withPlaceholders(value)]),
  );
}
