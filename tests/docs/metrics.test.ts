import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, freePort, spawnProcess } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';
import { readPage, root, tableRowsOf } from './support/markdown.ts';

interface Metric {
  readonly name: string;
  readonly kind: string;
}

const apps = ['api', 'worker', 'scheduler'] as const;
type App = (typeof apps)[number];

let db: TestDatabase;
const processes: SpawnedProcess[] = [];
const ports = new Map<App, number>();

beforeAll(async () => {
  db = await createTestDatabase();
  for (const app of apps) {
    const port = await freePort();
    ports.set(app, port);
    processes.push(
      spawnProcess({
        script: join(root, 'apps', app, 'dist/main.js'),
        env: {
          DATABASE_URL: db.url,
          HOLDFAST_SECRET: 'a secret for tests that is long enough',
          ...(app === 'api' ? { PORT: String(port) } : { HOLDFAST_PROBE_PORT: String(port) }),
        },
      }),
    );
  }
  await Promise.all(processes.map((each) => each.waitForOutput(/"started"/)));
  // The figures about requests are there once there was one.
  await fetch(`http://127.0.0.1:${String(ports.get('api'))}/livez`);
});

afterAll(async () => {
  await Promise.all(processes.map((each) => each.destroy()));
  await db.drop();
});

describe('the page about metrics', () => {
  it.each(apps)('lists what the %s exports, and nothing else', async (app) => {
    const exported = await metricsOf(app);
    expect(documentedFor(app)).toEqual(exported);
  });
});

describe('the page about log messages', () => {
  it('names only messages that are logged, and every one about an attempt that failed', () => {
    const rows = tableRowsOf(readPage('docs/operators/metrics.md'));
    const first = rows.findIndex(([name]) => name === '`msg`') + 1;
    const documented = rows
      .slice(first)
      .flatMap(([cell = '']) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, message = '']) => message),
      );
    const sources = ['apps', 'packages'].flatMap((folder) => sourcesIn(join(root, folder)));
    const logged = sources.map((file) => readFileSync(file, 'utf8')).join('\n');
    expect(documented.length).toBeGreaterThan(8);
    expect(documented.filter((message) => !logged.includes(`'${message}'`))).toEqual([]);
    const failures = [...logged.matchAll(/'(attempt failed, [^']+)'/g)].map(
      ([, text = '']) => text,
    );
    expect(documented).toEqual(expect.arrayContaining(failures));
    expect(failures).toHaveLength(3);
  });
});

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const source = join(folder, name, 'src');
    if (!existsSync(source)) return [];
    return readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(source, file));
  });
}

async function metricsOf(app: App): Promise<readonly Metric[]> {
  const response = await fetch(`http://127.0.0.1:${String(ports.get(app))}/metrics`);
  const text = await response.text();
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    .map(([, name = '', kind = '']) => ({ name, kind }))
    .filter(({ name }) => !/^holdfast_(?:nodejs|process)_/.test(name))
    .sort(byName);
}

function documentedFor(app: App): readonly Metric[] {
  return tableRowsOf(readPage('docs/operators/metrics.md'))
    .flatMap(([name = '', from, kind = '']) =>
      name.startsWith('`holdfast_') && from === app
        ? [{ name: name.replaceAll('`', ''), kind }]
        : [],
    )
    .sort(byName);
}

function byName(a: Metric, b: Metric): number {
  return a.name < b.name ? -1 : 1;
}
