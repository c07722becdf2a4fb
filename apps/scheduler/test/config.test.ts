import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';

const valid = { DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/holdfast' };

describe("a scheduler's configuration", () => {
  it('needs only the database', () => {
    expect(readConfig(valid)).toMatchObject({
      leaseMs: 30_000,
      tickMs: 10_000,
      hasNotifications: true,
      retention: { historyMs: 7 * 86_400_000, deadLettersMs: 90 * 86_400_000 },
      probePort: undefined,
    });
  });

  it('never sleeps longer than ten seconds', () => {
    expect(() => readConfig({ ...valid, HOLDFAST_TICK: '11s' })).toThrow('HOLDFAST_TICK');
  });
});
