import { cancelJob } from '@holdfast/database';
import { waitFor } from '@holdfast/testing';
import type { SpawnedProcess } from '@holdfast/testing';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openArena } from './support/arena.ts';
import type { Arena } from './support/arena.ts';
import { ask } from './support/records.ts';
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
    ['throws_huge_stack', 'handler_failed', /^deep down$/],
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
    ['returns_infinity', { big: null, huge: `1${'0'.repeat(400)}` }],
    ['returns_lone_surrogates', ['\\ud800', '\\udc00x', '😀']],
    ['returns_two_thousand_levels', noted('result_unserialisable')],
    ['returns_twenty_thousand_levels', noted('result_unserialisable')],
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

describe('a log that a handler floods or fills with what cannot be stored', () => {
  interface StoredLine {
    readonly message: string;
    readonly fields: unknown;
  }
  async function logOf(type: string): Promise<readonly StoredLine[]> {
    const { id } = await run(type);
    const sql = 'select message, fields from holdfast.job_logs where job_id = $1 order by line';
    return ask<StoredLine>(arena.database, sql, [id]);
  }

  it('keeps odd lines in a form that can be read', async () => {
    const lines = await logOf('logs_oddly');
    expect(lines[0]?.message).toBe('a\\u0000b\\ud800c');
    expect(lines[0]?.fields).toMatchObject({ holdfast: 'result_unserialisable' });
    expect(lines[1]?.message).toMatch(/^z{7900,}… \[cut\]$/);
    expect(lines[1]?.message).toHaveLength(8_000);
    expect(lines[1]?.fields).toMatchObject({ holdfast: 'payload_too_large' });
    expect(lines).toHaveLength(6);
    await expectToWorkOn();
  });

  it('keeps a thousand lines, and says that the rest is missing', async () => {
    const lines = await logOf('logs_without_end');
    expect(lines).toHaveLength(1_000);
    expect(lines.at(-1)?.message).toMatch(/^line 999 \[the log of this execution is full/);
  });

  it('keeps 64 kB, and says that the rest is missing', async () => {
    const lines = await logOf('logs_much');
    const length = lines.reduce((sum, { message }) => sum + message.length, 0);
    expect(length).toBeGreaterThan(64_000);
    expect(length).toBeLessThan(75_000);
    expect(lines.at(-1)?.message).toMatch(/the log of this execution is full/);
  });
});

it('a release for no time, or for ever, with a reason that cannot be stored, waits and can be cancelled', async () => {
  const [id = ''] = await arena.enqueue([{ type: 'releases_oddly' }]);
  await waitFor('the job is released', async () =>
    (await arena.records()).executions.some(({ jobId }) => jobId === id),
  );
  const execution = (await arena.records()).executions.find(({ jobId }) => jobId === id);
  expect(execution).toMatchObject({ status: 'released', reason: 'a\\u0000b\\ud800' });
  await cancelJob(arena.database, { projectId: arena.projectId, id, reason: 'enough' });
  await expectToWorkOn();
});

it('the worker ran all of them in one process, recorded each once, and stops as if nothing had been', async () => {
  expect(await arena.check({ isFaultless: true })).toEqual([]);
  worker.kill('SIGTERM');
  expect(await worker.exited).toEqual({ code: 0, signal: null });
});
