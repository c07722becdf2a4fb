import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { startPostgres } from '@holdfast/embedded-postgres';
import { runsProgram } from '../src/process-table.ts';
import { removeScratchFoldersAfterEach, scratchFolder } from './scratch-folder.ts';
import type { ChildProcess } from 'node:child_process';

removeScratchFoldersAfterEach();

const parents: ChildProcess[] = [];
afterEach(() => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
});

const fixture = join(import.meta.dirname, 'fixtures', 'start-and-wait.ts');

async function startInOtherProcess(dataDir: string) {
  const flags = ['--import', 'tsx', '--conditions=@holdfast/source', fixture, dataDir];
  const parent = spawn(process.execPath, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  parents.push(parent);
  await once(parent.stdout, 'data');
  return parent;
}

function watchdogPid(dataDir: string): number {
  return Number(readFileSync(`${dataDir}-watchdog.pid`, 'utf8'));
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}

it('stops the server when its parent dies by SIGKILL', async () => {
  const dataDir = join(scratchFolder(), 'pg');
  const parent = await startInOtherProcess(dataDir);
  const pidFile = join(dataDir, 'postmaster.pid');
  expect(existsSync(pidFile)).toBe(true);
  parent.kill('SIGKILL');
  await until(() => !existsSync(pidFile));
  const next = await startPostgres({ dataDir });
  expect(next.reused).toBe(false);
  await next.stop();
});

it('takes charge of a server whose parent and watchdog were both killed', async () => {
  const dataDir = join(scratchFolder(), 'pg');
  const parent = await startInOtherProcess(dataDir);
  const watchdog = watchdogPid(dataDir);
  process.kill(watchdog, 'SIGKILL');
  parent.kill('SIGKILL');
  await until(() => !runsProgram(watchdog, 'watchdog'));
  const next = await startPostgres({ dataDir });
  expect(next.reused).toBe(true);
  await next.stop();
  expect(existsSync(join(dataDir, 'postmaster.pid'))).toBe(false);
});
