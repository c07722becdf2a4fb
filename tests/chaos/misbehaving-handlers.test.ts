import { waitFor } from '@holdfast/testing';
import type { SpawnedProcess } from '@holdfast/testing';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openArena } from './support/arena.ts';
import type { Arena } from './support/arena.ts';
import type { RecordedJob } from './support/records.ts';

const handlers = fileURLToPath(new URL('./handlers/misbehaving.mjs', import.meta.url));

let arena: Arena;
let worker: SpawnedProcess;

beforeAll(async () => {
  arena = await openArena();
  worker = await arena.startWorker({ HOLDFAST_HANDLERS: handlers });
});

afterAll(async () => {
  await arena.close();
});

async function run(type: string): Promise<RecordedJob> {
  const [id] = await arena.enqueue([{ type, maxAttempts: 1 }]);
  await waitFor(`the job of type ${type} is at its end`, async () => {
    return (await arena.countUnfinished()) === 0;
  });
  const job = (await arena.records()).jobs.find((each) => each.id === id);
  if (job === undefined) throw new Error(`The job of type ${type} is lost`);
  return job;
}

async function expectToWorkOn(): Promise<void> {
  expect(await run('quick')).toMatchObject({ status: 'completed', result: worker.pid });
}

describe('a handler that fails in a strange way leaves a readable error and a living worker', () => {
  it.each([
    ['throws_undefined', 'handler_failed', /^Thrown: undefined$/],
    ['throws_null', 'handler_failed', /^Thrown: null$/],
    ['throws_symbol', 'handler_failed', /^Thrown: Symbol\(thrown\)$/],
    ['throws_circular', 'handler_failed', /^Thrown: a object that cannot be shown$/],
    ['throws_proxy', 'handler_failed', /^Thrown: a object that cannot be shown$/],
    ['throws_hostile_error', 'handler_failed', /^Thrown: /],
    ['throws_huge_text', 'handler_failed', /^x{3900,}… \[cut\]$/],
    ['throws_nul_text', 'handler_failed', /^a\\u0000b\\ud800c$/],
    ['throws_coded_error', 'ENOSPC', /^no disk$/],
    ['throws_function', 'handler_failed', /^Thrown: /],
    ['rejects_proxy', 'handler_failed', /^Thrown: a object that cannot be shown$/],
    ['rejects_twice', 'handler_failed', /^first$/],
    ['rejects_and_rejects_elsewhere', 'handler_failed', /^here$/],
    ['throws_in_timer', 'uncaught_exception', /^in a timer$/],
    ['throws_proxy_in_timer', 'uncaught_exception', /^Thrown: a object that cannot be shown$/],
    ['rejects_unhandled', 'uncaught_exception', /^nobody listens$/],
    ['rejects_proxy_unhandled', 'uncaught_exception', /^Thrown: a object that cannot be shown$/],
    ['emits_error', 'uncaught_exception', /^emitted$/],
    ['exits', 'handler_exited', /process\.exit\(0\)/],
    ['exits_in_timer', 'handler_exited', /process\.exit\(1\)/],
    ['returns_proxy', 'handler_failed', /^The trap get was sprung$/],
  ])('%s', async (type, code, message) => {
    const job = await run(type);
    expect(job).toMatchObject({ status: 'dead_letter', reason: 'attempts_exhausted', attempt: 1 });
    expect(job.lastError?.code).toBe(code);
    expect(job.lastError?.message).toMatch(message);
    await expectToWorkOn();
  });
});

describe('a handler that makes trouble after its end keeps its result', () => {
  it.each([
    'throws_afterwards',
    'rejects_afterwards',
    'exits_afterwards',
    'leaks_timers',
    'destroys_stdout',
    'changes_exit_code',
  ])('%s', async (type) => {
    expect(await run(type)).toMatchObject({ status: 'completed', result: 'in peace' });
    await expectToWorkOn();
  });
});

describe('a result that JSON or the database cannot hold completes the job', () => {
  const noted = (holdfast: string) => expect.objectContaining({ holdfast }) as unknown;
  it.each([
    ['returns_undefined', null],
    ['returns_bigint', '12345678901234567890'],
    ['returns_map', {}],
    ['returns_circular', noted('result_unserialisable')],
    ['returns_two_megabytes', noted('payload_too_large')],
    ['returns_nul_text', { 'k\\u0000': 'a\\u0000b\\udfff' }],
    ['returns_function', noted('result_unserialisable')],
    ['returns_symbol', noted('result_unserialisable')],
    ['returns_not_a_number', [null, null]],
    ['returns_hostile_json', noted('result_unserialisable')],
    ['returns_deep_nesting', noted('result_unserialisable')],
  ])('%s', async (type, result) => {
    expect(await run(type)).toMatchObject({ status: 'completed', result });
    await expectToWorkOn();
  });
});

it('the worker ran all of them in one process, recorded each once, and stops as if nothing had been', async () => {
  expect(await arena.check({ isFaultless: true })).toEqual([]);
  worker.kill('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
});
