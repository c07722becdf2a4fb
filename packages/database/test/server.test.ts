import { durabilityWarnings, requireSupportedServer } from '@holdfast/database';
import type { ServerInfo } from '@holdfast/database';
import { describe, expect, it } from 'vitest';

const server: ServerInfo = {
  version: '17.10',
  versionNumber: 170_010,
  fsync: true,
  fullPageWrites: true,
  synchronousCommit: 'on',
  synchronousStandbyNames: '',
  dataChecksums: true,
  inRecovery: false,
  startedAt: new Date(0),
  nowMs: 0,
};

describe('requireSupportedServer', () => {
  it.each([
    ['14.18', 140_018],
    ['9.6.24', 90_624],
  ])('refuses PostgreSQL %s by name', (version, versionNumber) => {
    expect(() => {
      requireSupportedServer({ ...server, version, versionNumber });
    }).toThrow(
      expect.objectContaining({
        code: 'database_unsupported',
        message: expect.stringContaining(version) as string,
      }),
    );
  });

  it.each([150_000, 160_009, 170_010])('takes version number %i', (versionNumber) => {
    expect(() => {
      requireSupportedServer({ ...server, versionNumber });
    }).not.toThrow();
  });
});

describe('durabilityWarnings', () => {
  it('has none for a server whose acknowledgements last', () => {
    expect(durabilityWarnings(server)).toEqual([]);
  });

  it.each([
    ['fsync', { fsync: false }],
    ['full_page_writes', { fullPageWrites: false }],
    ['synchronous_commit', { synchronousCommit: 'off' }],
  ] as const)('names %s when it is off', (setting, change) => {
    const warnings = durabilityWarnings({ ...server, ...change });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(setting);
  });
});
