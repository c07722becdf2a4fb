import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@holdfast/domain';
import { exitCodeOf } from '@holdfast/runtime';
import {
  commonFields,
  durationField,
  integerField,
  listField,
  switchField,
} from '@holdfast/runtime/config-fields';
import { loadConfig } from '@holdfast/runtime/load-config';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

const schema = z.object({
  ...commonFields,
  LEASE: durationField({ default: '30s', min: '1s', max: '10m' }),
  SLOTS: integerField({ min: 1, max: 1_000 }).default(20),
  NOTIFY: switchField().default(true),
  QUEUES: listField().default(['*']),
  SECRET: z.string().min(8, 'must have at least 8 characters').optional(),
});
const valid = { DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/holdfast' };
const directory = mkdtempSync(join(tmpdir(), 'holdfast-config-'));

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function problemsOf(env: Record<string, string>): string {
  try {
    loadConfig(schema, env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    expect(exitCodeOf(error)).toBe(78);
    return error instanceof Error ? error.message : '';
  }
  return '';
}

describe('the configuration', () => {
  it('has defaults, and units are milliseconds', () => {
    expect(loadConfig(schema, valid)).toMatchObject({ LEASE: 30_000, SLOTS: 20, NOTIFY: true });
    expect(
      loadConfig(schema, { ...valid, LEASE: '5m', NOTIFY: 'off', QUEUES: 'mail, ,default' }),
    ).toMatchObject({ LEASE: 300_000, NOTIFY: false, QUEUES: ['mail', 'default'] });
  });

  it('reports every problem at once with the name of its variable', () => {
    const message = problemsOf({ LEASE: 'soon', SLOTS: '0', NOTIFY: 'perhaps', LOG_LEVEL: 'loud' });
    for (const variable of ['DATABASE_URL: is required', 'LEASE:', 'SLOTS:', 'NOTIFY:', 'LOG_']) {
      expect(message).toContain(variable);
    }
  });

  it('never repeats a value, which may be a secret', () => {
    const message = problemsOf({ DATABASE_URL: 'mysql://u:hunter2@h/d', SECRET: 'hunter2' });
    expect(message).toContain('SECRET: must have at least 8 characters');
    expect(message).not.toContain('hunter2');
  });

  it.each([
    ['1h', 'at most 10m'],
    ['10ms', 'at least 1s'],
    ['-5s', 'duration'],
    ['30', 'duration'],
    ['Infinity', 'duration'],
  ])('refuses the duration %s', (text, problem) => {
    expect(problemsOf({ ...valid, LEASE: text })).toContain(problem);
  });

  it.each(['1.5', '1e3', '0x10', ' 5', '99999999999999999999'])('refuses the number %s', (text) => {
    expect(problemsOf({ ...valid, SLOTS: text })).toContain('whole number from 1 to 1000');
  });

  it('treats an empty variable as not set', () => {
    expect(loadConfig(schema, { ...valid, SLOTS: '' })).toMatchObject({ SLOTS: 20 });
    expect(problemsOf({ DATABASE_URL: '' })).toContain('DATABASE_URL: is required');
  });

  it('reads a value from the file that NAME_FILE names', () => {
    const path = join(directory, 'secret');
    writeFileSync(path, 'long enough\n');
    expect(loadConfig(schema, { ...valid, SECRET_FILE: path })).toMatchObject({
      SECRET: 'long enough',
    });
    expect(problemsOf({ ...valid, SECRET_FILE: path, SECRET: 'also here' })).toContain('not both');
    expect(problemsOf({ ...valid, SECRET_FILE: join(directory, 'none') })).toContain(
      'SECRET: the file named by SECRET_FILE cannot be read',
    );
  });

  it('cannot be changed afterwards', () => {
    expect(Object.isFrozen(loadConfig(schema, valid))).toBe(true);
  });
});
