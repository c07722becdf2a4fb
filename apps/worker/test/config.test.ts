import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';

const valid = { DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/holdfast' };

describe("a worker's configuration", () => {
  it('needs only the database', () => {
    expect(readConfig(valid)).toMatchObject({
      project: 'default',
      queues: undefined,
      concurrency: 20,
      leaseMs: 30_000,
      heartbeatMs: 5_000,
      pollIntervalMs: 500,
      drainTimeoutMs: 25_000,
      hasNotifications: true,
      labels: {},
    });
  });

  it('takes a list of queues, where * means all', () => {
    const queues = (text: string) => readConfig({ ...valid, HOLDFAST_QUEUES: text }).queues;
    expect(queues('mail, reports')).toEqual(['mail', 'reports']);
    expect(queues('*')).toBeUndefined();
    expect(queues('mail,*')).toBeUndefined();
  });

  it.each([
    ['30s', '15s'],
    ['8s', '5s'],
    ['1s', '1s'],
  ])('refuses a lease of %s with a heartbeat of %s', (lease, heartbeat) => {
    const env = { ...valid, HOLDFAST_LEASE: lease, HOLDFAST_HEARTBEAT: heartbeat };
    expect(() => readConfig(env)).toThrow('HOLDFAST_HEARTBEAT: must be less than half');
  });

  it('reads labels as pairs', () => {
    const labels = (text: string) => readConfig({ ...valid, HOLDFAST_LABELS: text }).labels;
    expect(labels('zone=eu-1, disk=fast')).toEqual({ zone: 'eu-1', disk: 'fast' });
    expect(labels('note=a=b')).toEqual({ note: 'a=b' });
    for (const bad of ['zone', '=eu', 'zone=', 'a=b,,c']) {
      expect(() => labels(bad)).toThrow('HOLDFAST_LABELS: must be pairs');
    }
  });
});
