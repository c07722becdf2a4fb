/** Who may import whom: domain <- database <- worker, scheduler <- apps, and nobody past an index.ts. */

const { readFileSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/** The sources that the packages export, as patterns. */
const exportedFiles = readdirSync(join(__dirname, 'packages')).flatMap((name) => {
  const file = join(__dirname, 'packages', name, 'package.json');
  const { exports: entries } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.values(entries ?? {})
    .map((targets) => targets['@holdfast/source'])
    .filter((source) => source !== undefined)
    .map((source) => `^packages/${name}/${source.slice(2).replaceAll('.', '\\.')}$`);
});

/** A rule: the sources of one workspace import no workspaces but these. */
const mayImportOnly = (from, allowed) => ({
  name: `${from.replaceAll('/', '-')}-imports`,
  comment: `${from} may import ${allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')}.`,
  severity: 'error',
  from: { path: `^${from}/src/` },
  to: {
    path: '^(packages|apps)/',
    pathNot: [from, ...allowed].map((workspace) => `^${workspace}/`),
  },
});

const domain = 'packages/domain';
const runtime = 'packages/runtime';
const database = 'packages/database';
const contract = 'packages/contract';
const engine = 'packages/worker';
const scheduler = 'packages/scheduler';
const embedded = 'packages/embedded-postgres';

module.exports = {
  forbidden: [
    mayImportOnly(domain, []),
    mayImportOnly(embedded, []),
    mayImportOnly(runtime, [domain]),
    mayImportOnly(contract, [domain]),
    mayImportOnly(database, [domain]),
    mayImportOnly(engine, [domain, database, runtime]),
    mayImportOnly('packages/holdfast', [domain, database, runtime, engine, scheduler, embedded]),
    mayImportOnly(scheduler, [domain, database, runtime]),
    mayImportOnly('packages/testing', [domain, database, runtime, embedded]),
    mayImportOnly('apps/api', [domain, database, runtime, contract]),
    mayImportOnly('apps/worker', [domain, database, runtime, engine]),
    mayImportOnly('apps/scheduler', [domain, database, runtime, scheduler]),
    mayImportOnly('apps/cli', [domain, database, runtime, contract, embedded]),
    mayImportOnly('apps/web', [domain, contract]),
    {
      name: 'only-database-knows-the-driver',
      comment: 'SQL and its driver live in packages/database; tests may look at a server directly.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/', pathNot: `^${database}/` },
      to: { path: 'node_modules/pg/' },
    },
    {
      name: 'past-the-index',
      comment: 'Another workspace is reached through what its package.json exports.',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/' },
      to: {
        path: '^(packages|apps)/[^/]+/src/',
        pathNot: ['^$1/$2/', ...exportedFiles],
      },
    },
    {
      name: 'tests-stay-outside',
      comment: 'What is shipped does not import what tests it.',
      severity: 'error',
      from: { path: '^(packages|apps)/[^/]+/src/', pathNot: '^packages/testing/' },
      to: { path: '(/test/|^tests/|^packages/testing/)' },
    },
    {
      name: 'no-circles',
      comment: 'Two files that import each other are one idea in two places.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'unresolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|coverage)/' },
    tsConfig: { fileName: 'tsconfig.lint.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@holdfast/source', 'import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
