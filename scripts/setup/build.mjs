import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runNode } from './run-command.mjs';
import { step } from './step.mjs';

const settings = ['tsconfig.base.json', 'tsconfig.json', 'package-lock.json'];
const skippedFolders = new Set(['node_modules', 'dist', 'test']);

/** What is built, from which inputs, and what proves that the result is still there. */
const targets = [
  {
    name: 'servers',
    title: 'the servers',
    inputs: [
      ...settings,
      'packages',
      'apps/api',
      'apps/worker',
      'apps/scheduler',
      'apps/cli',
      'examples',
    ],
    output: 'apps/cli/dist',
    build: async (root) => {
      await runNode('generating', ['scripts/generate.mjs', '--for-build'], { cwd: root });
      await runNode('tsc -b', ['node_modules/typescript/bin/tsc', '-b'], { cwd: root });
    },
  },
  {
    name: 'web',
    title: 'the dashboard',
    inputs: [...settings, 'packages/domain', 'packages/contract', 'apps/web'],
    output: 'apps/web/dist/index.html',
    build: (root) =>
      runNode('vite build', [join(root, 'node_modules/vite/bin/vite.js'), 'build'], {
        cwd: join(root, 'apps/web'),
      }),
  },
];

/** Builds what changed since it was last built, and says nothing when there is nothing to do. */
export async function ensureBuilt(root) {
  const pending = targets.filter((target) => !isBuilt(root, target));
  if (pending.length === 0) return;
  const title = `build of ${pending.map(({ title }) => title).join(' and ')}`;
  await step(title, () => buildAll(root, pending));
}

/** Side by side: the targets share no output, and compilers leave one of two cores idle. */
async function buildAll(root, pending) {
  const results = await Promise.allSettled(pending.map((target) => buildOne(root, target)));
  const failure = results.find(({ status }) => status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

async function buildOne(root, target) {
  await target.build(root);
  // Taken after the build, because generating may write inputs.
  const stamp = stampFile(root, target);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, fingerprint(root, target));
}

function isBuilt(root, target) {
  const stamp = stampFile(root, target);
  if (!existsSync(stamp) || !existsSync(join(root, target.output))) return false;
  return readFileSync(stamp, 'utf8') === fingerprint(root, target);
}

const stampFile = (root, { name }) => join(root, 'node_modules', '.cache', 'holdfast-build', name);

/** One hash over path, size and time of every input: it also notices files that were removed. */
function fingerprint(root, { inputs }) {
  const hash = createHash('sha256');
  for (const input of inputs) {
    for (const path of filesIn(join(root, input))) {
      const { size, mtimeMs } = statSync(path);
      hash.update(`${path} ${size} ${mtimeMs}\n`);
    }
  }
  return hash.digest('hex');
}

function filesIn(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !skippedFolders.has(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => filesIn(join(path, entry.name)));
}
