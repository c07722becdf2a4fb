import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The folder of the repository. */
export const root = resolve(import.meta.dirname, '../../..');

/** A page of the documentation. */
export interface Page {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** A fenced block: what stands behind its fence, and its content. */
export interface Fence {
  readonly page: Page;
  /** The line of the fence, from 1. */
  readonly line: number;
  /** The first word behind the fence, such as `sh`. */
  readonly language: string;
  /** The words after it, such as `run` or `file=jobs.js`. */
  readonly marks: readonly string[];
  readonly body: string;
}

/** Every page that people read: those at the root, in `docs/`, and of the examples. */
export function readPages(): readonly Page[] {
  const paths = [
    ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
    ...markdownIn('docs'),
    ...markdownIn('examples'),
  ];
  return paths.map(readPage);
}

/** One page, by its path from the root of the repository. */
export function readPage(path: string): Page {
  return { path, text: readFileSync(join(root, path), 'utf8') };
}

function markdownIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/(^|\/)(node_modules|dist)\//.test(path))
    .map((path) => join(folder, path))
    .sort();
}

/** The fenced blocks of a page, in order. */
export function fencesOf(page: Page): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { line: number; info: string; body: string[] } | undefined;
  for (const [index, text] of page.text.split('\n').entries()) {
    const [, info] = /^\s*```(.*)$/.exec(text) ?? [];
    if (info === undefined) open?.body.push(text);
    else if (open === undefined) open = { line: index + 1, info, body: [] };
    else {
      const [language = '', ...marks] = open.info.trim().split(/\s+/);
      fences.push({ page, line: open.line, language, marks, body: open.body.join('\n') });
      open = undefined;
    }
  }
  return fences;
}

/** The text of a page without its fenced blocks. */
export function proseOf(page: Page): string {
  return page.text.replace(/^\s*```[^\n]*\n[\s\S]*?^\s*```\s*$/gm, '');
}

/** The cells of every row of the page's tables, without the heading's underline. */
export function tableRowsOf(page: Page): readonly (readonly string[])[] {
  return proseOf(page)
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The anchors of a page: its headings as GitHub names them, and explicit ones. */
export function anchorsOf(page: Page): ReadonlySet<string> {
  const headings = [...proseOf(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = '']) =>
    slugOf(title),
  );
  const explicit = [...page.text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return new Set([...headings, ...explicit]);
}

function slugOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}
