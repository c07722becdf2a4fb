import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient } from '@holdfast/contract';
import { createTestDatabase, freePort, spawnProcess } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';
import { root } from './markdown.ts';
import type { Fence } from './markdown.ts';

/** What `npm start -- --no-demo` runs, with the modules of the documentation as its handlers. */
export interface DocsStack {
  /** Where a reader would be: handlers modules and the data directory `.holdfast` are here. */
  readonly folder: string;
  readonly db: TestDatabase;
  /** What the shell samples find in their environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Everything that the processes have written. */
  output(): string;
  stop(): Promise<void>;
}

/** Starts the whole product on a database of its own, and the web service that the samples call. */
export async function startDocsStack(modules: readonly Fence[]): Promise<DocsStack> {
  const folder = makeFolder(modules);
  const db = await createTestDatabase();
  const target = await startTarget();
  const stack = spawnProcess({
    script: join(root, 'apps/cli/bin/holdfast.js'),
    args: ['up', '--no-demo', '--port', '0'],
    cwd: folder,
    env: {
      DATABASE_URL: db.url,
      HOLDFAST_HANDLERS: join(folder, 'all-handlers.js'),
      HOLDFAST_EGRESS_ALLOW_HOSTS: target.url,
      HOLDFAST_EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
      HOLDFAST_SCHEMA: 'holdfast',
    },
  });
  const [, url = ''] = await stack.waitForOutput(/Dashboard\s+(http:\/\/127\.0\.0\.1:\d+)/);
  return {
    folder,
    db,
    env: {
      HOLDFAST_URL: url,
      HOLDFAST_API_KEY: await makeKey(url, join(folder, '.holdfast/admin-password')),
      TARGET: target.url,
      DATABASE_URL: db.url,
      npm_config_update_notifier: 'false',
    },
    output: stack.output,
    async stop() {
      stack.kill('SIGTERM');
      await stack.exited;
      await target.process.destroy();
      await db.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function makeKey(baseUrl: string, passwordFile: string): Promise<string> {
  const password = readFileSync(passwordFile, 'utf8').trim();
  const { accessToken } = await createApiClient({ baseUrl }).login({
    body: { email: 'admin@holdfast.local', password },
  });
  const owner = createApiClient({ baseUrl, getAccessToken: () => accessToken });
  const { key } = await owner.createApiKey({
    params: { project: 'default' },
    body: { name: 'documentation', scopes: ['manage'] },
  });
  return key;
}

/** The name that a sample gives its file: `file=jobs.js`. */
export function fileOf(fence: Fence): string | undefined {
  return fence.marks.find((mark) => mark.startsWith('file='))?.slice('file='.length);
}

function makeFolder(modules: readonly Fence[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
  const imports = modules.map((fence, index) => {
    // Pages may use one name for different files.
    const name = `page-${String(index)}/${fileOf(fence) ?? ''}`;
    mkdirSync(join(folder, `page-${String(index)}`));
    writeFileSync(join(folder, name), fence.body);
    return { name, line: `import { handlers as h${String(index)} } from './${name}';` };
  });
  const spread = imports.map((_, index) => `...h${String(index)}`).join(', ');
  writeFileSync(
    join(folder, 'all-handlers.js'),
    `${imports.map(({ line }) => line).join('\n')}\nexport const handlers = { ${spread} };\n`,
  );
  return folder;
}

async function startTarget(): Promise<{ readonly url: string; readonly process: SpawnedProcess }> {
  const port = await freePort();
  const process = spawnProcess({
    script: join(root, 'examples/demo/dist/main.js'),
    env: { PORT: String(port) },
  });
  await process.waitForOutput(/started/);
  return { url: `http://127.0.0.1:${String(port)}`, process };
}
