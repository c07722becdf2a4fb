import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attentionKinds, apiKeyScopes, roles, routes, workerStatuses } from '@holdfast/contract';
import {
  errorCodes,
  executionStatuses,
  fireOutcomes,
  jobStatuses,
  jobTransitions,
} from '@holdfast/domain';
import { anchorsOf, proseOf, readPage, readPages, root, tableRowsOf } from './support/markdown.ts';

const glossary = readPage('docs/glossary.md');

describe('the glossary', () => {
  it.each([
    ['Statuses of a job', jobStatuses],
    ['Statuses of an execution', executionStatuses],
    ['Scheduling', fireOutcomes],
    ['Stopping things', workerStatuses],
  ] as const)('lists under "%s" exactly what the code has', (heading, words) => {
    expect(codeWordsUnder(heading)).toEqual([...words]);
  });

  it('names every role and every scope', () => {
    const access = sectionOf(heading('Access')).toLowerCase();
    for (const role of roles) expect(access).toContain(`**${role}**`);
    for (const scope of apiKeyScopes) expect(access).toContain(`\`${scope}\``);
  });
});

describe('the page of errors', () => {
  it('has every code of the catalogue and no other', () => {
    const anchors = [...anchorsOf(readPage('docs/errors.md'))].filter((id) => id !== 'errors');
    expect(anchors.sort()).toEqual(Object.keys(errorCodes).sort());
  });
});

describe('the page about the life of a job', () => {
  it('has every transition as the domain has it', () => {
    const shown = tableRowsOf(readPage('docs/state-machine.md')).flatMap(([name, from, to]) =>
      name?.startsWith('`') === true ? [[name.replaceAll('`', ''), from, to]] : [],
    );
    const known = Object.entries(jobTransitions).map(([name, { from, to }]) => [
      name,
      from.length === 0 ? '(new)' : from.join(', '),
      to,
    ]);
    expect(shown).toEqual(known);
  });
});

describe('the page about metrics and logs', () => {
  it('quotes log lines as the processes write them', () => {
    const quoted = tableRowsOf(readPage('docs/operators/metrics.md'))
      .filter(([cell = '']) => /^`[a-zA-Z]/.test(cell) && !cell.startsWith('`holdfast_'))
      .flatMap(([cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, words = '']) => words))
      .filter((words) => words !== 'msg');
    const source = [
      'apps/api',
      'apps/worker',
      'apps/scheduler',
      'packages/scheduler',
      'packages/worker',
      'packages/runtime',
    ]
      .map((folder) => sourceOf(join(folder, 'src')))
      .join('\n');
    expect(quoted.filter((words) => !source.includes(`'${words}'`))).toEqual([]);
    expect(quoted.length).toBeGreaterThan(5);
  });
});

describe('every page', () => {
  const pages = readPages();

  it('speaks only of routes that the contract has', () => {
    const known = new Set(
      Object.values(routes).map(({ method, path }) => `${method.toUpperCase()} ${shortOf(path)}`),
    );
    const spoken = pages.flatMap((page) =>
      [...proseOf(page).matchAll(/`(GET|POST|PATCH|DELETE) (…?\/[^`\s?]*)/g)].map(
        ([, method = '', path = '']) => ({ page: page.path, route: `${method} ${path}` }),
      ),
    );
    const unknown = spoken.filter(
      ({ route }) => ![...known].some((each) => each === route || isEndOf(each, route)),
    );
    expect(unknown).toEqual([]);
    expect(spoken.length).toBeGreaterThan(5);
  });

  it('names error codes only as the catalogue has them', () => {
    const codeForm = /`([a-z]+(?:_[a-z]+)+)`/g;
    const known = new Set<string>([
      ...Object.keys(errorCodes),
      ...Object.keys(jobTransitions),
      ...[jobStatuses, executionStatuses, fireOutcomes, attentionKinds].flat(),
    ]);
    // Those for people who come from another library are full of its words.
    const guides = pages.filter(({ path }) => /^docs\/guides\/(?!coming-from-)/.test(path));
    // Reasons of jobs, modes of unique keys, and PostgreSQL's own words look the same.
    const others = new Set([
      'queue_latest',
      'queued_behind',
      'to_jsonb',
      'manual_retry',
      'cancel_forced',
      'synchronous_commit',
      'full_page_writes',
    ]);
    const strange = guides.flatMap((page) =>
      [...proseOf(page).matchAll(codeForm)]
        .map(([, word = '']) => word)
        .filter((word) => !known.has(word) && !others.has(word))
        .map((word) => `${page.path}: ${word}`),
    );
    expect(strange).toEqual([]);
  });
});

function sourceOf(folder: string): string {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readFileSync(join(root, folder, path), 'utf8'))
    .join('\n');
}

function heading(title: string): string {
  return `## ${title}\n`;
}

function sectionOf(from: string): string {
  const start = glossary.text.indexOf(from);
  expect(start, from).toBeGreaterThanOrEqual(0);
  const end = glossary.text.indexOf('\n## ', start + from.length);
  return glossary.text.slice(start, end === -1 ? undefined : end);
}

/** The first cells of the section's table that are code. */
function codeWordsUnder(title: string): readonly string[] {
  const section = { path: glossary.path, text: sectionOf(heading(title)) };
  return tableRowsOf(section).flatMap(([cell = '']) => {
    const [, word] = /^`([a-z_]+)`$/.exec(cell) ?? [];
    return word === undefined ? [] : [word];
  });
}

/** Pages leave out what all routes of a project begin with. */
function shortOf(path: string): string {
  return path.replace('/api/v1/projects/{project}', '…');
}

/** `POST …/resume` is enough where the page has just named what is resumed. */
function isEndOf(route: string, spoken: string): boolean {
  const [method = '', end = ''] = spoken.split(' …');
  return end !== '' && route.startsWith(`${method} `) && route.endsWith(end);
}
