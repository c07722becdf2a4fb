import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, proseOf, readPage, readPages, root } from './support/markdown.ts';
import type { Page } from './support/markdown.ts';

const pages = readPages();

describe.each(pages.map((page) => [page.path, page] as const))('%s', (_path, page) => {
  it('links only to files and headings that exist', () => {
    expect(linksOf(page).flatMap((link) => problemOf(page, link) ?? [])).toEqual([]);
  });
});

describe('the index of the documentation', () => {
  it('leads to every page below docs/', () => {
    const index = readPage('docs/README.md');
    const linked = new Set(
      linksOf(index).map((link) => normalize(join('docs', link.split('#')[0] ?? ''))),
    );
    const missing = pages
      .map(({ path }) => path)
      .filter((path) => path.startsWith('docs/') && path !== index.path && !linked.has(path));
    expect(missing).toEqual([]);
  });
});

function linksOf(page: Page): readonly string[] {
  const prose = proseOf(page);
  const markdown = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const html = [...prose.matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map(
    ([, target = '']) => target,
  );
  return [...markdown, ...html].filter((link) => !/^(?:https?|mailto):/.test(link));
}

function problemOf(page: Page, link: string): string | undefined {
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? page.path : normalize(join(dirname(page.path), file));
  if (!existsSync(join(root, target))) return `${link}: there is no ${target}`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  return anchorsOf(readPage(target)).has(anchor)
    ? undefined
    : `${link}: ${target} has no such heading`;
}
