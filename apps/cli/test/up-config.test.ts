import { describe, expect, it } from 'vitest';
import { readUpConfig } from '../src/up/up-config.ts';

const noFlags = { demo: true };

describe('the configuration of holdfast up', () => {
  it('needs nothing', () => {
    expect(readUpConfig(noFlags, {})).toMatchObject({
      databaseUrl: undefined,
      port: 3_000,
      workerCount: 1,
      hasDemo: true,
      isOnce: false,
    });
  });

  it('prefers flags to the environment', () => {
    const flags = { ...noFlags, port: '4000', workers: '3', dataDir: '/srv/holdfast' };
    const env = { PORT: '5000', HOLDFAST_WORKERS: '9', HOLDFAST_DATA_DIR: '/elsewhere' };
    expect(readUpConfig(flags, env)).toMatchObject({
      port: 4_000,
      workerCount: 3,
      dataDir: '/srv/holdfast',
    });
  });

  it('lists every problem at once', () => {
    const flags = { ...noFlags, port: 'http', workers: '-1' };
    const read = () => readUpConfig(flags, { HOLDFAST_ADMIN_PASSWORD: 'short' });
    expect(read).toThrow(/PORT:[^]*HOLDFAST_WORKERS:[^]*HOLDFAST_ADMIN_PASSWORD:/);
    expect(read).not.toThrow('short');
  });

  it('refuses to check a demo that does not run', () => {
    expect(() => readUpConfig({ demo: false, once: true }, {})).toThrow('--no-demo');
    expect(() => readUpConfig({ ...noFlags, once: true, workers: '0' }, {})).toThrow('worker');
  });
});
