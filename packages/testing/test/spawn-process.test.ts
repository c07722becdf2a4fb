import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { spawnProcess } from '@holdfast/testing';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-spawn-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function script(text: string): string {
  const file = join(folder, 'script.mjs');
  writeFileSync(file, text);
  return file;
}

it('collects the output and the exit code', async () => {
  const process = spawnProcess({
    script: script('console.log(process.env.WORD); console.error("two"); process.exitCode = 3;'),
    env: { WORD: 'one' },
  });
  expect(await process.exited).toEqual({ code: 3, signal: null });
  expect(process.output()).toContain('one');
  expect(process.output()).toContain('two');
});

it('waits for a line and passes signals on', async () => {
  const process = spawnProcess({
    script: script('console.log("ready on 42"); setInterval(() => {}, 1000);'),
  });
  const match = await process.waitForOutput(/ready on (\d+)/);
  expect(match[1]).toBe('42');
  process.kill('SIGTERM');
  expect(await process.exited).toEqual({ code: null, signal: 'SIGTERM' });
});

it('shows the output of a process that ended too early', async () => {
  const process = spawnProcess({ script: script('console.log("bad config");') });
  await expect(process.waitForOutput(/ready/)).rejects.toThrow(/ended before.*bad config/s);
});
