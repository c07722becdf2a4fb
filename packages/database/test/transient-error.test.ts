import { isConflict, isTransientError } from '@holdfast/database';
import { describe, expect, it } from 'vitest';

function errorWith(code: string): Error {
  return Object.assign(new Error('on purpose'), { code });
}

describe('an error that may pass', () => {
  it.each([
    ...[
      '40001',
      '40P01',
      '55P03',
      '53100',
      '53200',
      '53300',
      '57P01',
      '57P02',
      '57P03',
      '57014',
      '25006',
    ],
    ...['08000', '08003', '08006', '08007'],
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'ENOENT'],
  ])('is %s', (code) => {
    expect(isTransientError(errorWith(code))).toBe(true);
  });

  it.each([
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'timeout exceeded when trying to connect',
    'Client has encountered a connection error and is not queryable',
    'The lane is closed: connection ended',
  ])('is the driver’s "%s"', (message) => {
    expect(isTransientError(new Error(message))).toBe(true);
  });

  it.each(['23505', '23514', '42P01', '22003', '28P01', '3D000', 'ERR_SOMETHING'])(
    'is not %s',
    (code) => {
      expect(isTransientError(errorWith(code))).toBe(false);
    },
  );

  it.each([undefined, null, 'connection terminated', 42, {}, new Error('No'), { code: 40001 }])(
    'is not %s',
    (thrown) => {
      expect(isTransientError(thrown)).toBe(false);
    },
  );
});

describe('a conflict of two transactions', () => {
  it.each([
    ['40001', true],
    ['40P01', true],
    ['55P03', true],
    ['57014', false],
    ['23505', false],
    ['08006', false],
  ])('%s: %s', (code, conflict) => {
    expect(isConflict(errorWith(code))).toBe(conflict);
  });
});
