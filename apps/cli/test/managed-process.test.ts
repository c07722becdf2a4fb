import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitCodeOf } from '@holdfast/runtime';
import { waitFor } from '@holdfast/testing';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { openDataDirectory } from '../src/up/data-directory.ts';
import { createManagedProcess } from '../src/up/managed-process.ts';
import type { ManagedProcess } from '../src/up/managed-process.ts';

const script = fileURLToPath(new URL('fixtures/child.mjs', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'holdfast-processes-'));
const dataDirectory = openDataDirectory(directory);
const made: ManagedProcess[] = [];

afterEach(() => {
  for (const one of made.splice(0)) one.kill();
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function manage(mode: string, stopTimeoutMs = 10_000) {
  const events: string[] = [];
  const managed = createManagedProcess({
    name: `child ${mode}`,
    script,
    env: { MODE: mode },
    dataDirectory,
    isVerbose: false,
    stopTimeoutMs,
    onEvent: (event) => events.push(event),
  });
  made.push(managed);
  return { managed, events };
}

function isAlive(pid: number | undefined): boolean {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a managed process', () => {
  it('has started when it says so, and ends when it is stopped', async () => {
    const { managed, events } = manage('good');
    await managed.start();
    const { pid } = managed;
    expect(isAlive(pid)).toBe(true);
    await managed.stop();
    expect(isAlive(pid)).toBe(false);
    expect(events).toEqual([]);
  });

  it('is started again when it dies, and both is said', async () => {
    const { managed, events } = manage('good');
    await managed.start();
    const first = managed.pid ?? 0;
    process.kill(first, 'SIGKILL');
    await waitFor('it runs again', () => events.length === 2);
    expect(events[0]).toMatch(/^child good \(pid \d+\) ended with SIGKILL; starting it again in/);
    expect(events[1]).toBe(`child good runs again (pid ${String(managed.pid)})`);
    expect(managed.pid).not.toBe(first);
    await managed.stop();
  });

  it('is left alone when it ended on request', async () => {
    const { managed, events } = manage('good');
    await managed.start();
    process.kill(managed.pid ?? 0, 'SIGUSR2');
    await waitFor('it has ended', () => events.length === 1);
    expect(events).toEqual(['child good stopped as it was asked to']);
    await managed.stop();
  });

  it.each([
    ['fails', 'child fails ended with code 1:\nno database here\n', 1],
    ['misconfigured', 'DATABASE_URL: is required', 78],
  ])('that %s at its start says why', async (mode, message, exitCode) => {
    const failure = await manage(mode)
      .managed.start()
      .catch((error: unknown) => error);
    expect(String(failure)).toContain(message);
    expect(exitCodeOf(failure)).toBe(exitCode);
  });

  it('is killed when it does not stop in time', async () => {
    const { managed, events } = manage('stubborn', 50);
    await managed.start();
    const { pid } = managed;
    await managed.stop();
    expect(isAlive(pid)).toBe(false);
    expect(events).toEqual(['child stubborn did not stop in time and was killed']);
  });

  it('can be stopped while it is being started', async () => {
    const { managed } = manage('silent');
    const started = managed.start();
    await managed.stop();
    await started;
    expect(isAlive(managed.pid)).toBe(false);
  });
});
