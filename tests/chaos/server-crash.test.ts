import { waitFor } from '@holdfast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFailed } from 'vitest';
import { leaseMs, openArena } from './support/arena.ts';
import type { Arena } from './support/arena.ts';
import { ledgerNowMs } from './support/ledger.ts';
import { startOwnServer } from './support/own-server.ts';
import type { OwnServer } from './support/own-server.ts';
import { enqueueThroughFaults } from './support/stubborn-client.ts';

let server: OwnServer;
let arena: Arena;

beforeAll(async () => {
  server = await startOwnServer();
});

afterAll(async () => {
  await server.remove();
});

beforeEach(async () => {
  arena = await openArena(await server.createDatabase());
  onTestFailed(() => {
    console.error(arena.outputs());
  });
});

afterEach(async () => {
  await arena.close();
});

const startAll = () =>
  Promise.all([
    ...Array.from({ length: 3 }, () => arena.startWorker()),
    ...Array.from({ length: 2 }, () => arena.startScheduler()),
  ]);

it('loses no acknowledged job when the server crashes three times under load', async () => {
  const processes = await startAll();
  const crashAt = [600, 1_500, 2_400];
  const serverCrashesAtMs: number[] = [];
  const crashes: Promise<void>[] = [];
  const log = await enqueueThroughFaults({
    database: arena.database,
    projectId: arena.projectId,
    callers: 20,
    count: 3_000,
    onAcknowledged(total) {
      if (total !== crashAt[serverCrashesAtMs.length]) return;
      serverCrashesAtMs.push(ledgerNowMs());
      crashes.push(server.crash());
    },
  });
  await Promise.all(crashes);
  expect(crashes).toHaveLength(crashAt.length);
  expect(log.settled.length).toBeGreaterThan(0);
  arena.acknowledge([...log.confirmed, ...log.settled]);
  const { jobs } = await arena.untilQuiet();

  expect(jobs).toHaveLength(log.confirmed.length + log.settled.length);
  for (const job of jobs) expect(job).toMatchObject({ status: 'completed', attempt: 1 });
  // Nobody had to be started again.
  expect(processes.map((process) => process.isRunning())).toEqual(processes.map(() => true));
  expect(await arena.check({ serverCrashesAtMs })).toEqual([]);
  for (const process of processes) process.kill('SIGTERM');
  for (const process of processes) expect((await process.exited).code).toBe(0);
});

it('uses up no attempt when the server is away for longer than the leases', async () => {
  const processes = await startAll();
  await arena.enqueue([
    ...Array.from({ length: 5 }, () => ({
      type: 'hold',
      payload: { gate: 'end' },
      maxAttempts: 1,
    })),
    ...Array.from({ length: 5 }, () => ({
      type: 'stubborn',
      payload: { gate: 'end' },
      maxAttempts: 1,
    })),
  ]);
  await waitFor('all jobs run', () => arena.countIn('running', 10));
  const serverCrashesAtMs = [ledgerNowMs()];
  await server.goDown();
  await waitFor(
    'the workers gave up what heeds them',
    () => {
      const aborted = arena.ledger().filter(({ phase }) => phase === 'threw');
      return aborted.length === 5;
    },
    { timeoutMs: 4 * leaseMs + 30_000 },
  );
  await server.comeBack();
  arena.openGate('end');
  const { jobs, executions } = await arena.untilQuiet();

  for (const job of jobs) expect(job).toMatchObject({ status: 'completed', attempt: 1 });
  expect(executions.filter(({ status }) => status === 'failed')).toEqual([]);
  expect(processes.map((process) => process.isRunning())).toEqual(processes.map(() => true));
  expect(await arena.check({ serverCrashesAtMs })).toEqual([]);
});
