import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPage, root, tableRowsOf } from './support/markdown.ts';

/** Where each kind of process reads its settings. */
const sources = {
  api: ['apps/api/src/config.ts'],
  worker: ['apps/worker/src/config.ts'],
  scheduler: ['apps/scheduler/src/config.ts'],
  start: ['apps/cli/src/up/up-config.ts'],
  cli: ['apps/cli/src/api-access.ts', 'apps/cli/src/database-config.ts'],
} as const;

type Reader = keyof typeof sources;

const commonSource = 'packages/runtime/src/config-fields.ts';
const variableForm = /^ {2,4}((?:HOLDFAST_[A-Z_]+)|DATABASE_URL|PORT|HOST|LOG_LEVEL|LOG_FORMAT):/gm;

/** Defaults that the code computes, in the words of the table. */
const computedDefaults: Readonly<Record<string, string>> = {
  HOLDFAST_RETENTION_HISTORY: '7d',
  HOLDFAST_RETENTION_DEAD_LETTERS: '90d',
  HOLDFAST_QUEUES: '*',
  HOLDFAST_LABELS: '',
};

/** One row of the table in the README: name, who reads it, default, meaning. */
interface DocumentedVariable {
  readonly readers: readonly string[];
  readonly defaultText: string;
}

const documented = documentedVariables();

describe('the table of settings in the README', () => {
  it.each(Object.keys(sources) as Reader[])('names every variable that %s reads', (reader) => {
    const missing = variablesOf(reader).filter(
      (name) => documented.get(name)?.readers.includes(reader) !== true,
    );
    expect(missing).toEqual([]);
  });

  it('names no variable that nothing reads', () => {
    const stale = [...documented].flatMap(([name, { readers }]) =>
      readers
        .filter((reader) => !isReader(reader) || !variablesOf(reader).includes(name))
        .map((reader) => `${name} is not read by ${reader}`),
    );
    expect(stale).toEqual([]);
  });

  it('gives the defaults of the code', () => {
    const inCode = new Map(
      [...Object.entries(sources), ['all', [commonSource]] as const].flatMap(([, files]) =>
        files.flatMap((file) => defaultsIn(file)),
      ),
    );
    const wrong = [...inCode].filter(
      ([name, text]) => documented.has(name) && documented.get(name)?.defaultText !== text,
    );
    expect(wrong).toEqual([]);
    for (const [name, text] of Object.entries(computedDefaults)) {
      expect([name, documented.get(name)?.defaultText]).toEqual([name, text]);
    }
  });
});

describe('.env.example', () => {
  it('names only variables of the table', () => {
    const names = [
      ...readFileSync(join(root, '.env.example'), 'utf8').matchAll(/^#?\s?([A-Z_]+)=/gm),
    ];
    const strange = names.map(([, name = '']) => name).filter((name) => !documented.has(name));
    expect(strange).toEqual([]);
  });
});

function isReader(word: string): word is Reader {
  return word in sources;
}

function documentedVariables(): ReadonlyMap<string, DocumentedVariable> {
  const rows = tableRowsOf(readPage('README.md')).flatMap((cells) => {
    const [, name] = /^`([A-Z_]+)`$/.exec(cells[0] ?? '') ?? [];
    if (name === undefined) return [];
    const readers = (cells[1] ?? '').split(',').map((reader) => reader.trim());
    return [[name, { readers, defaultText: (cells[2] ?? '').replaceAll('`', '') }] as const];
  });
  return new Map(rows);
}

function variablesOf(reader: Reader): readonly string[] {
  const texts = sources[reader].map((file) => readFileSync(join(root, file), 'utf8'));
  const own = texts.flatMap((text) => namesIn(text));
  const takesCommon = texts.some((text) => text.includes('...commonFields'));
  return [...new Set([...own, ...(takesCommon ? namesIn(commonText()) : [])])].filter(
    // The API has its own health routes instead.
    (name) => !(reader === 'api' && name === 'HOLDFAST_PROBE_PORT'),
  );
}

function commonText(): string {
  return readFileSync(join(root, commonSource), 'utf8');
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(variableForm)].map(([, name = '']) => name);
}

/** Each variable with the default that is written beside it, when one is. */
function defaultsIn(file: string): readonly (readonly [string, string])[] {
  const text = readFileSync(join(root, file), 'utf8');
  const parts = text.split(variableForm);
  return parts.flatMap((part, index) => {
    const name = parts[index - 1];
    if (index % 2 === 1 || name === undefined) return [];
    const field = part.split(/^(?:\}|[a-z]|\/)/m)[0] ?? '';
    const [, found] = /default(?:\(|: )'?([A-Za-z0-9_.:/@-]+)/.exec(field) ?? [];
    if (found === undefined || name in computedDefaults) return [];
    return [[name, readable(found)] as const];
  });
}

function readable(literal: string): string {
  if (literal === 'true') return 'on';
  if (literal === 'false') return 'off';
  return /^\d+(_\d+)*$/.test(literal) ? literal.replaceAll('_', '') : literal;
}
