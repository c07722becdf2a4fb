/**
 * Makes `prisma/generated` anew from `schema.prisma`: `npm run generate:prisma`, after a change of the schema or of
 * Prisma's version. The result is committed, so that a test run needs neither Prisma's command line, which is 230 MB
 * with what it brings, nor its engines, which come from a server of Prisma's own.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = import.meta.dirname;
const { devDependencies } = JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8'));
const command = ['--yes', `prisma@${devDependencies['@prisma/client']}`, 'generate'];
const { status } = spawnSync('npx', [...command, '--schema', join(folder, 'schema.prisma')], {
  cwd: folder,
  // A client for driver adapters is generated without any engine; a file that exists keeps the command from fetching one.
  env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
