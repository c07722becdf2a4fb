import { OptionsInvalidError, PayloadInvalidError, defineJob } from 'holdfast';
import { createFakeHoldfast } from 'holdfast/testing';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { readPayload, upgradePayload, versionsOf } from '../src/payload-versions.ts';
import type { InputOf, JobDefinition, PayloadUpgrade, VersionBefore } from 'holdfast';

const invoice = defineJob({
  type: 'invoice.send',
  version: 3,
  payload: z.object({ invoiceId: z.string(), to: z.array(z.email()) }),
  upgrades: {
    1: (old: { id: number; to: string }) => ({ invoiceId: String(old.id), to: old.to }),
    2: ({ invoiceId, to }: { invoiceId: string; to: string }) => ({ invoiceId, to: [to] }),
  },
});

describe('the versions of a definition', () => {
  it('are 1 without a word of it', () => {
    const plain = defineJob({ type: 'plain' });
    expect(plain).toMatchObject({ version: 1, upgrades: {} });
    expect(versionsOf(plain)).toEqual([1]);
  });

  it('are its own and those that its upgrades begin with, without a gap', () => {
    expect(versionsOf(invoice)).toEqual([3, 2, 1]);
    const recent = { type: 'recent', version: 12, upgrades: { 10: String, 11: String } };
    expect(versionsOf(defineJob(recent))).toEqual([12, 11, 10]);
    expect(versionsOf(defineJob({ type: 'new', version: 9 }))).toEqual([9]);
  });

  it.each([
    [{ version: 0 }, /version must be a whole number from 1 to 32767, not 0/],
    [{ version: 32_768 }, /version must be/],
    [{ version: 1.5 }, /version must be/],
    [{ version: '2' }, /version must be/],
    [{ version: null }, /version must be/],
    [{ version: 2, upgrades: [] }, /upgrades must be an object of functions by version/],
    [{ version: 2, upgrades: null }, /upgrades must be/],
    [{ version: 2, upgrades: { 1: 'x' } }, /upgrades\.1 must be a function/],
    [{ version: 2, upgrades: { 2: String } }, /upgrades\.2 must begin with a version below 2/],
    [{ upgrades: { 1: String } }, /upgrades\.1 must begin with a version below 1/],
    [{ version: 2, upgrades: { 0: String } }, /upgrades\.0 must begin/],
    [{ version: 2, upgrades: { '1.5': String } }, /upgrades\.1\.5 must begin/],
    [{ version: 2, upgrades: { first: String } }, /upgrades\.first must begin/],
    [{ version: 4, upgrades: { 1: String, 3: String } }, /upgrades\.2 is missing.*1 to 4/],
    [{ version: 3, upgrades: { 1: String } }, /upgrades\.2 is missing/],
    [{ verson: 2 }, /there is no option "verson"; did you mean "version"/],
  ])('cannot be %j', (wrong, message) => {
    // As callers in plain JavaScript may.
    const define = () => defineJob({ type: 'wrong', ...wrong } as { type: string });
    expect(define).toThrow(OptionsInvalidError);
    expect(define).toThrow(message);
  });
});

describe('an older payload', () => {
  it('is upgraded step by step, then checked', async () => {
    const first = { id: 7, to: 'ada@example.com' };
    const wanted = { invoiceId: '7', to: ['ada@example.com'] };
    expect(await readPayload(invoice, first, 1)).toEqual(wanted);
    expect(await readPayload(invoice, { invoiceId: '7', to: first.to }, 2)).toEqual(wanted);
    expect(await readPayload(invoice, wanted, 3)).toEqual(wanted);
  });

  it('may be upgraded by functions that take their time', async () => {
    const job = defineJob({
      type: 'slow',
      version: 2,
      payload: z.number(),
      upgrades: { 1: (old) => Promise.resolve(Number(old)) },
    });
    expect(await readPayload(job, '5', 1)).toBe(5);
  });

  it('is invalid when an upgrade throws', async () => {
    const read = readPayload(invoice, null, 1);
    await expect(read).rejects.toBeInstanceOf(PayloadInvalidError);
    await expect(read).rejects.toThrow(
      /"invoice\.send" is not valid: its upgrade from version 1 failed: /,
    );
  });

  it('is invalid with the frames of the error that an upgrade threw', async () => {
    const thrown = new RangeError('no address');
    const takeAddress = (): never => {
      throw thrown;
    };
    thrown.stack = 'RangeError: no address\n    at takeAddress (/shop/jobs.ts:7:1)';
    const job = defineJob({ type: 'thrown', version: 2, upgrades: { 1: takeAddress } });
    const stack =
      'PayloadInvalidError: The payload of "thrown" is not valid: its upgrade from version 1 failed: no address' +
      '\n    at takeAddress (/shop/jobs.ts:7:1)';
    await expect(readPayload(job, {}, 1)).rejects.toMatchObject({ cause: thrown, stack });
  });

  it.each<[unknown, RegExp]>([
    ['no address', /version 1 failed: no address$/],
    [undefined, /version 1 failed: undefined$/],
    [Object.create(null), /version 1 failed: \[Object: null prototype\] \{\}$/],
  ])('is invalid when an upgrade throws what is no error: %o', async (thrown, message) => {
    const upgrade = (): never => {
      throw thrown;
    };
    const job = defineJob({ type: 'thrown', version: 2, upgrades: { 1: upgrade } });
    const read = readPayload(job, {}, 1);
    await expect(read).rejects.toBeInstanceOf(PayloadInvalidError);
    await expect(read).rejects.toThrow(message);
  });

  it('is invalid when the schema refuses what its upgrades made', async () => {
    const read = readPayload(invoice, { id: 7, to: 'nobody' }, 1);
    await expect(read).rejects.toThrow(/"invoice\.send" is not valid: \/to\/0: /);
  });

  it.each([4, 0, 32_767])('of version %i is one that is not known', async (version) => {
    const upgrade = upgradePayload(defineJob({ type: 'two', version: 2 }), {}, version);
    await expect(upgrade).rejects.toThrow(/its version is \d+, of which nothing is known here/);
  });
});

describe('a fake', () => {
  it('keeps the version of each payload', async () => {
    const holdfast = createFakeHoldfast();
    await holdfast.enqueue(invoice, { invoiceId: '7', to: ['ada@example.com'] });
    await holdfast.enqueue('invoice.send', {}, { payloadVersion: 2 });
    await holdfast.enqueue('invoice.send', {});
    await holdfast.chain([invoice.with({ invoiceId: '8', to: [] })]).enqueue();
    expect(holdfast.jobs.map(({ payloadVersion }) => payloadVersion)).toEqual([3, 2, 1, 3]);
  });

  it('refuses a version beside a definition, as the real one does', async () => {
    const holdfast = createFakeHoldfast();
    const payload = { invoiceId: '7', to: [] };
    await expect(holdfast.enqueue(invoice, payload, { payloadVersion: 2 })).rejects.toThrow(
      /payloadVersion is for jobs that are named by their type: a definition says its own/,
    );
    await expect(holdfast.enqueue('a', payload, { payloadVersion: 0 })).rejects.toThrow(
      /payloadVersion must be a whole number from 1 to 32767, not 0/,
    );
  });
});

describe('the types of upgrades', () => {
  it('leave what enqueue takes to the schema', () => {
    expectTypeOf<InputOf<typeof invoice>>().toEqualTypeOf<{ invoiceId: string; to: string[] }>();
    expectTypeOf(invoice).toExtend<JobDefinition>();
  });

  it('count down', () => {
    expectTypeOf<VersionBefore<2>>().toEqualTypeOf<1>();
    expectTypeOf<VersionBefore<10>>().toEqualTypeOf<9>();
    expectTypeOf<VersionBefore<32_000>>().toEqualTypeOf<31_999>();
    expectTypeOf<VersionBefore<number>>().toEqualTypeOf<number>();
  });

  it('want of the last one what the schema takes, and nothing of those before', () => {
    const payload = z.object({ to: z.string() });
    const wrong = () =>
      defineJob({
        type: 'a',
        version: 3,
        // @ts-expect-error -- `to` is missing
        payload,
        upgrades: {
          1: (old) => {
            expectTypeOf(old).toEqualTypeOf<unknown>();
            return 5;
          },
          2: () => ({ from: 'x' }),
        },
      });
    expect(wrong).not.toThrow();
    const right = defineJob({
      type: 'b',
      version: 10,
      payload,
      upgrades: { 9: () => ({ to: 'x' }) },
      run({ to }) {
        expectTypeOf(to).toEqualTypeOf<string>();
        return 1;
      },
    });
    expectTypeOf(right.upgrades[9]).toEqualTypeOf<PayloadUpgrade | undefined>();
  });

  it('want of the last one what the handler takes, where there is no schema', () => {
    const wrong = () =>
      defineJob({
        type: 'c',
        version: 2,
        // @ts-expect-error -- `width` is missing
        upgrades: { 1: () => ({ height: 1 }) },
        run: ({ width }: { width: number }) => width,
      });
    expect(wrong).not.toThrow();
  });
});
