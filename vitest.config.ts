import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './packages/testing/src/summary-reporter.ts';

// Vite's own conditions for servers, after the one that finds the packages' sources. Without `module`, which Vitest would
// hand on to Node: what libraries have under it is for bundlers, and Node cannot load it.
const conditions = ['@holdfast/source', 'node', 'development|production'];
const databaseTests = '**/*.db.test.ts';
const secondMs = 1_000;
// Longer than any wait inside of a test, so that what a hanging test hangs at is told by the wait; passing tests end long before.
const limits = {
  unitMs: 60 * secondMs,
  serverMs: 120 * secondMs,
  processMs: 300 * secondMs,
  // One test kills two hundred workers, which took a single busy core more than three minutes.
  chaosMs: 600 * secondMs,
} as const;

interface ProjectOptions {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  /** Projects run one after the other in this order, lowest first. */
  readonly groupOrder: number;
  readonly setups: readonly ('browser' | 'database')[];
  readonly maxWorkers: number;
  readonly testTimeoutMs: number;
}

function project(options: ProjectOptions) {
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name: options.name,
      include: [...options.include],
      exclude: ['**/node_modules/**', '**/dist/**', ...(options.exclude ?? [])],
      globalSetup: options.setups.map((setup) => `packages/testing/src/${setup}-setup.ts`),
      sequence: { groupOrder: options.groupOrder },
      maxWorkers: options.maxWorkers,
      testTimeout: options.testTimeoutMs,
      hookTimeout: limits.serverMs,
      pool: 'forks' as const,
    },
  };
}

export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    projects: [
      project({
        name: 'unit',
        include: [
          'packages/*/test/**/*.test.ts',
          'apps/*/test/**/*.test.{ts,tsx}',
          'examples/*/test/**/*.test.ts',
          'scripts/test/**/*.test.ts',
        ],
        exclude: [databaseTests],
        groupOrder: 0,
        setups: [],
        maxWorkers: 2,
        testTimeoutMs: limits.unitMs,
      }),
      project({
        name: 'database',
        include: ['{packages,apps,examples}/*/test/**/*.db.test.ts'],
        groupOrder: 1,
        setups: ['database'],
        maxWorkers: 2,
        testTimeoutMs: limits.serverMs,
      }),
      project({
        name: 'adapters',
        include: ['tests/adapters/**/*.test.ts'],
        groupOrder: 1,
        setups: ['database'],
        maxWorkers: 2,
        testTimeoutMs: limits.serverMs,
      }),
      project({
        name: 'contract',
        include: ['tests/contract/**/*.test.ts'],
        groupOrder: 2,
        setups: ['database'],
        maxWorkers: 2,
        testTimeoutMs: limits.serverMs,
      }),
      project({
        name: 'chaos',
        include: ['tests/chaos/**/*.test.ts'],
        groupOrder: 3,
        setups: ['database'],
        maxWorkers: 1,
        testTimeoutMs: limits.chaosMs,
      }),
      project({
        name: 'docs',
        include: ['tests/docs/**/*.test.ts'],
        groupOrder: 4,
        setups: ['database'],
        maxWorkers: 2,
        testTimeoutMs: limits.serverMs,
      }),
      project({
        name: 'packaging',
        include: ['tests/packaging/**/*.test.ts'],
        groupOrder: 5,
        setups: ['database'],
        maxWorkers: 1,
        testTimeoutMs: limits.processMs,
      }),
      project({
        name: 'e2e',
        include: ['tests/e2e/**/*.test.ts'],
        groupOrder: 6,
        setups: ['database', 'browser'],
        maxWorkers: 1,
        testTimeoutMs: limits.processMs,
      }),
    ],
  },
});
