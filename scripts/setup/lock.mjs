import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const pollEveryMs = 200;

/** Runs the work while no other process of this account does so for the same checkout. */
export async function withSetupLock(root, work) {
  const file = lockFile(root);
  let hasWaited = false;
  while (!tryLock(file)) {
    if (!hasWaited) console.log('… waiting for another setup of this checkout');
    hasWaited = true;
    await sleep(pollEveryMs);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function lockFile(root) {
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 12);
  return join(tmpdir(), `holdfast-setup-${process.getuid?.() ?? 0}-${hash}.lock`);
}

function tryLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    removeIfAbandoned(file);
    return false;
  }
}

function removeIfAbandoned(file) {
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
  } catch (error) {
    if (error.code === 'ESRCH') rmSync(file, { force: true });
  }
}
