import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnProcess } from '@holdfast/testing';
import { expect, it } from 'vitest';

it('tests without a server share an embedded one, which ends with their process', async () => {
  const script = join(import.meta.dirname, 'fixtures/embedded-test.mjs');
  const process = spawnProcess({ script, env: { TMPDIR: tmpdir() } });
  try {
    expect([await process.exited, process.output()]).toEqual([
      { code: 0, signal: null },
      `1 0 ${String(process.pid)}\n`,
    ]);
  } finally {
    await process.destroy();
  }
  expect(existsSync(join(tmpdir(), `holdfast-testing-${String(process.pid)}`))).toBe(false);
}, 120_000);
