import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createEmptyDatabase, spawnProcess, waitFor } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';
import { Holdfast } from 'holdfast';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const folder = join(import.meta.dirname, '..');
let db: TestDatabase;
let holdfast: Holdfast;
let worker: SpawnedProcess;

const run = (script: string, args: readonly string[] = []): SpawnedProcess =>
  spawnProcess({ script: join(folder, script), args, env: { DATABASE_URL: db.url } });

beforeAll(async () => {
  db = await createEmptyDatabase();
  holdfast = new Holdfast({ connectionString: db.url });
  worker = run('worker.js');
  await worker.waitForOutput(/is ready/);
});
afterAll(async () => {
  await worker.destroy();
  await holdfast.close();
  await db.drop();
});

describe('the worker in plain JavaScript', () => {
  it('makes the tables and runs what the other program enqueues', async () => {
    const greet = run('greet.js', ['Ada']);
    expect(await greet.exited).toEqual({ code: 0, signal: null });
    expect(greet.output()).toMatch(/^Enqueued [-0-9a-f]{36}\.\nHello, Ada!\n$/);
    await worker.waitForOutput(/example\.greet \S+ took \d+ ms/);
  });

  it('says how far a job is', async () => {
    const { id } = await holdfast.enqueue('example.count', { to: 2 });
    expect(await holdfast.wait(id)).toMatchObject({
      status: 'completed',
      progress: { percent: 100, note: '2 of 2' },
      result: { countedTo: 2 },
    });
  });

  it('lets its job end at Ctrl-C, and stops', async () => {
    const { id } = await holdfast.enqueue('example.count', { to: 5 });
    await waitFor('the job runs', async () => (await holdfast.get(id)).progress !== undefined);
    worker.kill('SIGINT');
    expect(await worker.exited).toEqual({ code: 0, signal: null });
    expect(worker.output()).toMatch(/Stopping.*\n(?:.*\n)*Stopped\.\n$/);
    expect(await holdfast.get(id)).toMatchObject({ status: 'completed' });
  });

  it.runIf(process.platform !== 'win32')('stops so as well when npm has started it', async () => {
    const terminal = spawn('npm', ['run', 'worker'], {
      cwd: folder,
      // A group of its own, which gets the signal as a whole, as from a terminal.
      detached: true,
      env: { ...process.env, DATABASE_URL: db.url, npm_config_update_notifier: 'false' },
    });
    const { pid } = terminal;
    if (pid === undefined) throw new Error('npm could not be started');
    let output = '';
    for (const stream of [terminal.stdout, terminal.stderr]) {
      stream.on('data', (data) => (output += String(data)));
    }
    const closed = new Promise((resolve) => terminal.once('close', resolve));
    await waitFor('the worker is ready', () => output.includes('is ready'));
    process.kill(-pid, 'SIGINT');
    await closed;
    expect(output).toMatch(/Stopping.*\n(?:.*\n)*Stopped\.\n/);
  });
});
