import { isUuid, uuidSeries, uuidV7 } from '@holdfast/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

// RFC 9562 leaves 48 bits for the milliseconds.
const anyTime = fc.integer({ min: 0, max: 2 ** 48 - 1 });

describe('a UUIDv7', () => {
  it('has its version, its variant and its time in their places', () => {
    fc.assert(
      fc.property(anyTime, (nowMs) => {
        const id = uuidV7(nowMs);
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(nowMs);
        expect(isUuid(id)).toBe(true);
      }),
    );
  });

  it('of a later millisecond sorts later, as text', () => {
    fc.assert(
      fc.property(anyTime, anyTime, (one, other) => {
        fc.pre(one < other);
        expect(uuidV7(one) < uuidV7(other)).toBe(true);
      }),
    );
  });

  it('sorts after the one before, also within one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => uuidV7(1_700_000_000_000));
    expect([...ids].sort()).toEqual(ids);
  });

  it('is never made twice, also within one millisecond', () => {
    const ids = Array.from({ length: 20_000 }, () => uuidV7(1_700_000_000_000));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('uses every value of its random digits', () => {
    const digits = Array.from({ length: 2_000 }, (_, ms) =>
      uuidV7(ms).replaceAll('-', '').slice(13),
    );
    for (let place = 0; place < 19; place += 1) {
      const seen = new Set(digits.map((each) => each.charAt(place)));
      // The counter begins in its lower half, and the variant's two fixed bits leave four values.
      const values = place === 0 ? 8 : place === 3 ? 4 : 16;
      expect([place, seen.size]).toEqual([place, values]);
    }
  });
});

describe('the canonical form of a UUID', () => {
  it.each(['0190b6e4-7a4b-7c1d-9e2f-0123456789ab', '00000000-0000-0000-0000-000000000000'])(
    'is that of %s',
    (text) => {
      expect(isUuid(text)).toBe(true);
    },
  );

  it.each([
    '',
    '0190b6e47a4b7c1d9e2f0123456789ab',
    '0190B6E4-7A4B-7C1D-9E2F-0123456789AB',
    '{0190b6e4-7a4b-7c1d-9e2f-0123456789ab}',
    ' 0190b6e4-7a4b-7c1d-9e2f-0123456789ab',
    '0190b6e4-7a4b-7c1d-9e2f-0123456789ab\n',
    '0190b6e4-7a4b-7c1d-9e2f-0123456789ag',
  ])('is not that of %j', (text) => {
    expect(isUuid(text)).toBe(false);
  });
});

describe('a series of UUIDs', () => {
  const take = (ofId: string, count: number) => Array.from({ length: count }, uuidSeries(ofId));

  it('has the time of the id that it belongs to, and sorts in the order in which it was made', () => {
    const ofId = uuidV7(1_700_000_000_000);
    const ids = take(ofId, 20_000);
    expect(ids.every(isUuid)).toBe(true);
    expect(ids.every((id) => id.startsWith(ofId.slice(0, 13)))).toBe(true);
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is the same again for the same id, and shares nothing with that of another id', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (one, other) => {
        fc.pre(one !== other);
        expect(take(one, 5)).toEqual(take(one, 5));
        expect(new Set([...take(one, 5), ...take(other, 5)]).size).toBe(10);
      }),
    );
  });

  it('does not repeat itself where one series belongs to an id of another', () => {
    const outer = take(uuidV7(0), 1_000);
    const inner = outer.flatMap((id) => take(id, 10));
    expect(new Set([...outer, ...inner]).size).toBe(11_000);
  });
});
