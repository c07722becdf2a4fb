import { join } from 'node:path';
import { registerPayloadContracts } from '@holdfast/database';
import { createEmptyDatabase, createJobFactory, spawnProcess } from '@holdfast/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defineJob } from 'holdfast';
import { checkContracts } from '../src/contracts/check-contracts.ts';
import { openHoldfast } from './support/open-holdfast.ts';
import { query } from './support/stored-rows.ts';
import type { ContractReport, VersionReport } from '../src/contracts/contract-report.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

const script = join(import.meta.dirname, '../dist/bin/holdfast.js');
const build = join(import.meta.dirname, 'fixtures', 'contracts-build.mjs');
const more = join(import.meta.dirname, 'fixtures', 'contracts-more.mjs');

let test: TestHoldfast;
let projectId: string;

beforeAll(async () => {
  test = await openHoldfast();
  ({ projectId } = await createJobFactory(test.server.database));
});
beforeEach(async () => {
  await query(test.server.url, 'delete from holdfast.jobs', []);
  await query(test.server.url, 'delete from holdfast.payload_contracts', []);
});
afterAll(() => test.close());

interface Ended {
  readonly code: number | null;
  readonly output: string;
}

async function check(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const started = spawnProcess({
    ...{ script, args: ['contracts', 'check', ...args] },
    env: { DATABASE_URL: test.server.url, ...env },
  });
  const { code } = await started.exited;
  return { code, output: started.output() };
}

async function report(
  ...args: readonly string[]
): Promise<ContractReport & { code: number | null }> {
  const { code, output } = await check(['--json', ...args]);
  return { code, ...(JSON.parse(output) as ContractReport) };
}

const find = ({ versions }: ContractReport, type: string, version = 1) =>
  versions.find((each) => each.type === type && each.version === version);

async function enqueue(type: string, payload: unknown, payloadVersion = 1): Promise<string> {
  return (await test.holdfast.enqueue(type, payload, { payloadVersion })).id;
}

describe('holdfast contracts check', () => {
  it('is content with a build that takes what waits', async () => {
    await enqueue('invoice.send', { to: ['Ada'] }, 3);
    await enqueue('invoice.send', { to: 'Bob' }, 2);
    await enqueue('plain', 'anything');
    const { code, output } = await check([build]);
    expect(output).toBe(
      [
        'invoice.send, version 2: 1 waiting, 1 of 1 read are taken',
        'invoice.send, version 3: 1 waiting, 1 of 1 read are taken',
        'plain, version 1: 1 waiting, 1 of 1 read are taken',
        'This build takes every payload that was read.\n',
      ].join('\n'),
    );
    expect(code).toBe(0);
  });

  it('says of each version what is not taken and why, with a job, and nothing of the payloads', async () => {
    const secret = 'hunter-2';
    const first = await enqueue('invoice.send', { to: 'old', secret });
    await enqueue('invoice.send', { to: 'older', secret });
    const threw = await enqueue('invoice.send', { secret }, 2);
    const refused = await enqueue('invoice.send', { to: '', secret }, 2);
    await enqueue('invoice.send', { to: 'Ada', secret }, 2);
    const told = await enqueue('telling', { secret });
    const failed = await enqueue('throwing', { secret });
    const found = await report(build);
    expect(found).toMatchObject({ code: 1, ok: false });
    expect(find(found, 'invoice.send', 1)).toMatchObject({
      ...{ waiting: 2, read: 2, taken: 0, isDefined: true, hasOtherSchema: false },
      refusals: [{ reason: 'version_not_supported', count: 2, jobId: first }],
    });
    expect(find(found, 'invoice.send', 2)).toMatchObject({
      ...{ waiting: 3, read: 3, taken: 1 },
      refusals: [
        { reason: 'upgrade_failed', upgradeFrom: 2, error: 'RangeError', count: 1, jobId: threw },
        { reason: 'schema_refused', path: '/to/0', count: 1, jobId: refused },
      ],
    });
    expect(find(found, 'telling')?.refusals).toEqual([
      { reason: 'schema_refused', path: '', count: 1, jobId: told },
    ]);
    expect(find(found, 'throwing')?.refusals).toEqual([
      { reason: 'schema_failed', error: 'TypeError', count: 1, jobId: failed },
    ]);
    const { code, output } = await check([build]);
    expect(code).toBe(1);
    expect(output).toContain(
      [
        'invoice.send, version 1: 2 waiting, 0 of 2 read are taken',
        `  2: no upgrade begins with this version, such as of job ${first}`,
        'invoice.send, version 2: 3 waiting, 1 of 3 read are taken',
        `  1: the upgrade from version 2 threw RangeError, such as of job ${threw}`,
        `  1: the schema refuses /to/0, such as of job ${refused}`,
        'telling, version 1: 1 waiting, 0 of 1 read are taken',
        `  1: the schema refuses the payload, such as of job ${told}`,
        'throwing, version 1: 1 waiting, 0 of 1 read are taken',
        `  1: the schema threw TypeError, such as of job ${failed}`,
        'This build is not ready to take what waits.\n',
      ].join('\n'),
    );
    expect(output).not.toContain(secret);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  it('names types that no module defines, which count under --strict alone', async () => {
    await enqueue('report', {});
    const { code, output } = await check([build]);
    expect(code).toBe(0);
    expect(output).toContain('report, version 1: 1 waiting, which no module defines\n');
    expect((await check(['--strict', build])).code).toBe(1);
    expect((await check(['--strict', build, more])).code).toBe(0);
  });

  it('names versions whose schema differs from the registered one', async () => {
    const contract = { schemaJson: '{"type":"string"}', fingerprint: 'a' };
    const contracts = [
      { type: 'invoice.send', version: 3, ...contract },
      { type: 'invoice.send', version: 2, ...contract },
      { type: 'plain', version: 1, ...contract },
    ];
    await registerPayloadContracts(test.server.database, { projectId, contracts });
    const found = await report(build);
    expect(found).toMatchObject({ code: 0, ok: true });
    expect(found.versions.map(({ type, version, waiting }) => [type, version, waiting])).toEqual([
      ['invoice.send', 3, 0],
    ]);
    expect(find(found, 'invoice.send', 3)?.hasOtherSchema).toBe(true);
    const { code, output } = await check(['--strict', build]);
    expect(code).toBe(1);
    expect(output).toContain(
      '  its schema is not the one that workers have registered under this version\n',
    );
  });

  it('reads no more payloads of a type than it was told', async () => {
    for (let index = 0; index < 5; index += 1) await enqueue('plain', index);
    await enqueue('invoice.send', { to: 'Bob' }, 2);
    const found = await report('--limit', '3', build);
    expect(find(found, 'plain')).toMatchObject({ waiting: 5, read: 3, taken: 3 });
    expect(find(found, 'invoice.send', 2)).toMatchObject({ waiting: 1, read: 1 });
  });

  it('reads of each version, so that few that are not taken do not hide behind many', async () => {
    for (const to of ['Ada', 'Bob', 'Cy']) await enqueue('invoice.send', { to }, 2);
    await enqueue('invoice.send', { to: 'Dan' }, 4);
    const found = await report('--limit', '1', build);
    expect(found).toMatchObject({ code: 1, ok: false });
    expect(find(found, 'invoice.send', 2)).toMatchObject({ waiting: 3, read: 1, taken: 1 });
    expect(find(found, 'invoice.send', 4)).toMatchObject({ waiting: 1, read: 1, taken: 0 });
  });

  it.each(['leaving.mjs', 'never-loaded.mjs'])(
    'fails when it cannot come to an end: %s',
    async (name) => {
      const { code, output } = await check([join(import.meta.dirname, 'fixtures', name)]);
      expect(code).toBe(1);
      expect(output).toContain('The check is not done: a module has ended the process');
    },
  );

  it('takes what a module of CommonJS exports, however it is put together', async () => {
    await enqueue('assembled', {});
    const found = await report('--strict', join(import.meta.dirname, 'fixtures', 'assembled.cjs'));
    expect(found).toMatchObject({ code: 0, versions: [{ type: 'assembled', taken: 1 }] });
  });

  it('reads page by page', async () => {
    await test.holdfast.enqueueMany(
      'plain',
      Array.from({ length: 250 }, (_, index) => index),
    );
    expect(find(await report(build), 'plain')).toMatchObject({
      waiting: 250,
      read: 250,
      taken: 250,
    });
  });

  it('changes nothing', async () => {
    await enqueue('invoice.send', { to: 'Bob' }, 2);
    const rows = () => query(test.server.url, 'select * from holdfast.jobs', []);
    const before = await rows();
    await check([build]);
    expect(await rows()).toEqual(before);
  });

  it('looks at one project', async () => {
    await enqueue('invoice.send', {});
    const { code, output } = await check([build], { HOLDFAST_PROJECT: 'nobody' });
    expect(output).toContain('HOLDFAST_PROJECT: there is no project "nobody"');
    expect(code).toBe(78);
  });

  it.each([
    [['nothing-here.mjs'], 78, 'nothing-here.mjs cannot be loaded: '],
    [[join(import.meta.dirname, 'fixtures', 'enqueue-only.mjs')], 78, 'enqueue-only.mjs '],
    [[], 2, 'contracts check needs a module that exports definitions'],
    [['--limit', '0', 'x'], 2, '--limit must be a whole number above 0, not "0"'],
    [['--dry-run', 'x'], 2, 'contracts takes no option --dry-run'],
  ])('refuses %j', async (args, code, problem) => {
    const ended = await check(args);
    expect(ended.output).toContain(problem);
    expect(ended.code).toBe(code);
  });

  it('says when the database cannot be reached, or has no tables', async () => {
    const nowhere = 'postgres://holdfast@127.0.0.1:1/nowhere';
    expect((await check([build], { DATABASE_URL: nowhere })).code).toBe(69);
    const empty = await createEmptyDatabase();
    const ended = await check([build], { DATABASE_URL: empty.url });
    expect(ended.code).toBe(69);
    expect(ended.output).toContain('npx holdfast migrate');
    await empty.drop();
  });
});

describe('a check of contracts', () => {
  it('keeps few of many different refusals', async () => {
    const job = defineJob({
      type: 'many',
      payload: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) => ({
            issues: [{ message: 'no', path: ['records', String(value)] }],
          }),
        },
      },
    });
    await test.holdfast.enqueueMany(
      'many',
      Array.from({ length: 50 }, (_, index) => index),
    );
    const { ok, versions } = await checkContracts(test.server.database, {
      ...{ projectId, build: new Map([['many', job]]), limit: undefined, isStrict: false },
    });
    expect(ok).toBe(false);
    const [many] = versions as readonly [VersionReport];
    expect(many).toMatchObject({ read: 50, taken: 0 });
    expect(many.refusals).toHaveLength(20);
  });
});
