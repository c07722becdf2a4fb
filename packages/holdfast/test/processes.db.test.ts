import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createEmptyDatabase, spawnProcess } from '@holdfast/testing';
import { Holdfast } from 'holdfast';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';

let server: TestDatabase;
let holdfast: Holdfast;
const processes: SpawnedProcess[] = [];

beforeEach(async () => {
  server = await createEmptyDatabase();
  holdfast = new Holdfast({ connectionString: server.url });
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((each) => each.destroy()));
  await holdfast.close();
  await server.drop();
});

const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name);

function run(name: string, env: Readonly<Record<string, string>> = {}): SpawnedProcess {
  const script = fixture(name);
  const started = spawnProcess({ script, env: { DATABASE_URL: server.url, ...env } });
  processes.push(started);
  return started;
}

describe('the smallest program', () => {
  it('has at most ten lines, and runs a job in an empty database', async () => {
    const lines = readFileSync(fixture('hello-world.mjs'), 'utf8').trim().split('\n');
    expect(lines.length).toBeLessThanOrEqual(10);
    const program = run('hello-world.mjs');
    expect(await program.exited).toEqual({ code: 0, signal: null });
    expect(program.output()).toBe('Hello, Ada\n');
  });
});

describe('a process that only enqueues', () => {
  it('ends by itself when it is done', async () => {
    await holdfast.migrate();
    const program = run('enqueue-only.mjs');
    expect(await program.exited).toEqual({ code: 0, signal: null });
    expect(await holdfast.get(program.output().trim())).toMatchObject({ status: 'queued' });
  });
});

describe('a worker process', () => {
  it('says nothing by itself, drains at SIGTERM and ends', async () => {
    await holdfast.migrate();
    const program = run('worker-process.mjs');
    await program.waitForOutput(/started/);
    const { id } = await holdfast.enqueue('slow');
    await program.waitForOutput(/running/);
    program.kill('SIGTERM');
    expect(await program.exited).toEqual({ code: 0, signal: null });
    expect(program.output()).toBe('started\nrunning\nover\n');
    expect(await holdfast.get(id)).toMatchObject({ result: { aborted: false } });
  });

  it('survives an error that a handler throws in a timer', async () => {
    await holdfast.migrate();
    const program = run('worker-process.mjs');
    await program.waitForOutput(/started/);
    const { id } = await holdfast.enqueue('stray', {}, { maxAttempts: 1 });
    expect(await holdfast.wait(id)).toMatchObject({
      status: 'dead_letter',
      lastError: { code: 'uncaught_exception' },
    });
    expect(program.isRunning()).toBe(true);
  });

  it('tells a handler that its attempt is over when an error that nobody caught has ended it', async () => {
    await holdfast.migrate();
    const program = run('worker-process.mjs', { CONCURRENCY: '1' });
    await program.waitForOutput(/started/);
    const { id } = await holdfast.enqueue('careless', {}, { maxAttempts: 1 });
    expect(await holdfast.wait(id)).toMatchObject({ lastError: { code: 'uncaught_exception' } });
    await program.waitForOutput(/told uncaught_exception/);
    // Its only slot is free again, and nobody took it for stuck.
    const next = await holdfast.enqueue('slow');
    expect(await holdfast.wait(next.id)).toMatchObject({ status: 'completed' });
    expect(program.isRunning()).toBe(true);
  });

  it('still keeps handlers from ending it when another worker in it has stopped', async () => {
    await holdfast.migrate();
    const program = run('worker-process.mjs', { MODE: 'second' });
    await program.waitForOutput(/both started/);
    const { id } = await holdfast.enqueue('leaving', {}, { maxAttempts: 1 });
    expect(await holdfast.wait(id)).toMatchObject({ lastError: { code: 'handler_exited' } });
    expect(program.isRunning()).toBe(true);
  });

  it('dies of the application’s own mistakes as any process does, also with two workers in it', async () => {
    await holdfast.migrate();
    const program = run('worker-process.mjs', { MODE: 'broken' });
    const { code } = await program.exited;
    expect(code).toBe(1);
    expect(program.output()).toContain('a mistake of the application');
  });

  it('says that the tables are missing, and ends', async () => {
    const program = run('worker-process.mjs');
    expect(await program.exited).toMatchObject({ code: 69 });
    expect(program.output()).toContain('schema_outdated');
  });

  it('ends as asked also while it waits for its database', async () => {
    const url = new URL(server.url);
    url.port = '1';
    const program = run('worker-process.mjs', { DATABASE_URL: url.href, LOG: 'yes' });
    await program.waitForOutput(/database not available/);
    program.kill('SIGTERM');
    expect(await program.exited).toEqual({ code: 0, signal: null });
    expect(program.output()).toMatch(/over\n$/);
  });
});
