import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ensureSecretFile, openDataDirectory } from '../src/up/data-directory.ts';
import { planProcesses } from '../src/up/process-plan.ts';
import { readUpConfig } from '../src/up/up-config.ts';
import type { Environment } from '@holdfast/runtime';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-plan-'));
const dataDirectory = openDataDirectory(directory);

afterAll(() => {
  rmSync(directory, { recursive: true });
});

function plan(env: Environment, flags = { demo: true }) {
  return planProcesses({
    config: readUpConfig(flags, env),
    files: {
      ...{ api: 'api.js', worker: 'worker.js', scheduler: 'scheduler.js', webRoot: '/web' },
      ...{ demoTarget: 'target.js', demoHandlers: 'handlers.js', demoPlan: 'plan.json' },
    },
    dataDirectory,
    databaseUrl: 'postgres://127.0.0.1/db',
    port: 4_000,
    targetPort: 4_900,
  });
}

describe('what the processes are told', () => {
  const secrets = {
    HOLDFAST_SECRET: 's'.repeat(40),
    HOLDFAST_ADMIN_PASSWORD: 'correct horse battery',
  };

  it('gives the secrets to the API alone, since handlers run in the workers', () => {
    const { api, worker, scheduler, target } = plan(secrets);
    expect(api).toMatchObject(secrets);
    for (const env of [worker, scheduler, target]) {
      expect(Object.values(env)).not.toContain(secrets.HOLDFAST_SECRET);
      expect(Object.values(env)).not.toContain(secrets.HOLDFAST_ADMIN_PASSWORD);
    }
  });

  it('points the API at the secrets that were made, once they are there', () => {
    expect(plan({}).api['HOLDFAST_ADMIN_PASSWORD_FILE']).toBeUndefined();
    ensureSecretFile(dataDirectory.passwordPath, 15);
    expect(plan({}).api).toMatchObject({
      HOLDFAST_ADMIN_PASSWORD_FILE: dataDirectory.passwordPath,
      HOLDFAST_SECRET_FILE: dataDirectory.secretPath,
      HOLDFAST_WEB_ROOT: '/web',
      PORT: '4000',
    });
  });

  it('opens the addresses of this demo and of demos beside it for HTTP jobs, and nothing without the demo', () => {
    const own = { HOLDFAST_EGRESS_ALLOW_HOSTS: 'api.example.com' };
    const ports = [4_900, 3_900, 3_901, 3_902, 3_903, 3_904];
    expect(plan(own).worker['HOLDFAST_EGRESS_ALLOW_HOSTS']?.split(',')).toEqual([
      'api.example.com',
      ...ports.map((port) => `http://127.0.0.1:${String(port)}`),
    ]);
    const without = plan(own, { demo: false }).worker;
    expect(without['HOLDFAST_EGRESS_ALLOW_HOSTS']).toBe('api.example.com');
    expect(without['HOLDFAST_EGRESS_ALLOW_CIDRS']).toBeUndefined();
  });

  it("runs the user's handlers when there are some", () => {
    expect(plan({}).worker['HOLDFAST_HANDLERS']).toBe('handlers.js');
    expect(plan({ HOLDFAST_HANDLERS: './mine.js' }).worker['HOLDFAST_HANDLERS']).toBe('./mine.js');
  });
});
