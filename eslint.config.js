import reactHooks from 'eslint-plugin-react-hooks';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const sources = ['packages/*/src/**/*.ts', 'apps/*/src/**/*.{ts,tsx}'];
const tests = [
  'packages/*/test/**',
  'apps/*/test/**',
  'scripts/test/**',
  'tests/**',
  'packages/testing/**',
];
const environmentDoors = ['**/src/**/config.ts', '**/src/main.ts'];
// Where the wall clock is read: one place for processes, one for the dashboard, and test data.
const clocks = ['packages/runtime/src/clock.ts', 'apps/web/src/ui/use-now.ts'];
const consoleUsers = [
  'apps/cli/**',
  'scripts/**',
  'packages/*/scripts/**',
  'bench/**',
  'examples/**',
  ...tests,
];

const forbidden = {
  environment: {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'Only config.ts and main.ts read the environment; take a setting as an argument.',
  },
  wallClock: {
    selector: 'CallExpression[callee.object.name="Date"][callee.property.name="now"]',
    message: "Take the time from a Clock, or from the database's clock.",
  },
  rawHtml: {
    selector: 'JSXAttribute[name.name="dangerouslySetInnerHTML"]',
    message: 'Text from jobs must never become markup.',
  },
  defaultExport: {
    selector: 'ExportDefaultDeclaration',
    message: 'Export by name, so that one thing has one name everywhere.',
  },
};

const forbid = (...names) => ['error', ...names.map((name) => forbidden[name])];

export default defineConfig(
  globalIgnores(['**/dist/', '**/generated/', '**/coverage/', '.holdfast/']),
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      complexity: ['error', 12],
      eqeqeq: ['error', 'smart'],
      'max-depth': ['error', 3],
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-template-curly-in-string': 'error',
      'no-unreachable-loop': 'error',
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.lint.json', './apps/web/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/consistent-indexed-object-style': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/max-params': ['error', { max: 3 }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
    },
  },
  {
    files: sources,
    rules: {
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-syntax': forbid('environment', 'wallClock', 'rawHtml', 'defaultExport'),
    },
  },
  {
    files: [...clocks, 'packages/testing/src/**'],
    rules: { 'no-restricted-syntax': forbid('environment', 'defaultExport') },
  },
  {
    files: environmentDoors,
    rules: { 'no-restricted-syntax': forbid('wallClock', 'defaultExport') },
  },
  {
    files: ['apps/web/src/**/*.{ts,tsx}'],
    extends: [reactHooks.configs.flat.recommended],
  },
  {
    // A component is mostly markup.
    files: ['apps/web/src/**/*.tsx'],
    rules: { 'max-lines-per-function': ['error', 150] },
  },
  {
    files: tests,
    rules: {
      'max-lines-per-function': 'off',
      // The columns of a table of cases are parameters too.
      '@typescript-eslint/max-params': 'off',
      // Fixtures are closures, which tests take apart.
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  { files: consoleUsers, rules: { 'no-console': 'off' } },
);
