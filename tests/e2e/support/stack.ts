import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createApiClient } from '@holdfast/contract';
import type { ApiClient } from '@holdfast/contract';
import { issueSignInTicket } from '@holdfast/database';
import { createTestDatabase, spawnProcess } from '@holdfast/testing';
import type { SpawnedProcess, TestDatabase } from '@holdfast/testing';

/** The owner of every stack under test. */
export const owner = { email: 'owner@example.com', password: 'correct horse battery' } as const;

/** The whole product as separate processes on a database of its own. */
export interface Stack {
  readonly url: string;
  readonly db: TestDatabase;
  /** Speaks as the owner, for what a test needs before it looks at the browser. */
  readonly client: ApiClient;
  /** Lets the handlers go on that wait for this gate. */
  openGate(gate: string): void;
  /** A sign-in link that works once. */
  signInLink(email?: string): Promise<string>;
  /** What the processes wrote, for the report of a failed test. */
  outputs(): string;
  stop(): Promise<void>;
}

/** The project that everything in these tests is in. */
export const project = { project: 'default' } as const;

const ticketLifeMs = 60_000;

const handlers = fileURLToPath(new URL('./handlers.mjs', import.meta.url));

function pathOf(relative: string): string {
  return fileURLToPath(new URL(`../../../${relative}`, import.meta.url));
}

const commonSettings = {
  LOG_FORMAT: 'json',
  HOLDFAST_LEASE: '6s',
  HOLDFAST_HEARTBEAT: '250ms',
  HOLDFAST_POLL_INTERVAL: '100ms',
  HOLDFAST_TICK: '250ms',
};

/** Starts API, worker and scheduler from their built files, and waits until each is at work. */
export async function startStack(): Promise<Stack> {
  const db = await createTestDatabase();
  const gates = mkdtempSync(join(tmpdir(), 'holdfast-e2e-'));
  const processes: SpawnedProcess[] = [];
  const start = (app: string, settings: Readonly<Record<string, string>>) => {
    const env = { ...commonSettings, DATABASE_URL: db.url, ...settings };
    const started = spawnProcess({ script: pathOf(`apps/${app}/dist/main.js`), env });
    processes.push(started);
    return started;
  };
  const api = startApi(start, { HOLDFAST_ADMIN_PASSWORD: owner.password });
  const worker = start('worker', {
    HOLDFAST_HANDLERS: handlers,
    E2E_GATES: gates,
  });
  const scheduler = start('scheduler', {});
  const url = await urlOf(api);
  await Promise.all([worker, scheduler].map((one) => one.waitForOutput(/"started"/)));

  const { accessToken } = await createApiClient({ baseUrl: url }).login({ body: owner });
  return {
    url,
    db,
    client: createApiClient({ baseUrl: url, getAccessToken: () => accessToken }),
    openGate: (gate) => {
      writeFileSync(join(gates, gate), '');
    },
    signInLink: (email = owner.email) => linkFor(db, url, email),
    outputs: () => processes.map((one) => one.output()).join('\n'),
    async stop() {
      await Promise.all(processes.map((one) => one.destroy()));
      await db.drop();
      rmSync(gates, { recursive: true, force: true });
    },
  };
}

type Start = (app: string, settings: Readonly<Record<string, string>>) => SpawnedProcess;

function startApi(start: Start, settings: Readonly<Record<string, string>>): SpawnedProcess {
  return start('api', {
    PORT: '0',
    HOLDFAST_SECRET: 'a secret for tests that is long enough',
    HOLDFAST_ADMIN_EMAIL: owner.email,
    HOLDFAST_WEB_ROOT: pathOf('apps/web/dist'),
    ...settings,
  });
}

async function urlOf(api: SpawnedProcess): Promise<string> {
  const [, url = ''] = await api.waitForOutput(/"url":"(http[^"]+)"/);
  return url;
}

async function linkFor(db: TestDatabase, url: string, email: string): Promise<string> {
  const ticket = await issueSignInTicket(db.database, { email, lifeMs: ticketLifeMs });
  if (ticket === undefined) throw new Error(`Nobody has the address ${email}`);
  return `${url}/?ticket=${ticket}`;
}

/** An API with the dashboard, whose first owner got a password that must be changed. */
export interface FreshApi {
  readonly url: string;
  readonly generatedPassword: string;
  stop(): Promise<void>;
}

/** Starts an API alone, with nothing configured about its first owner but the address. */
export async function startFreshApi(): Promise<FreshApi> {
  const db = await createTestDatabase();
  const api = startApi(
    (app, settings) =>
      spawnProcess({
        script: pathOf(`apps/${app}/dist/main.js`),
        env: { ...commonSettings, DATABASE_URL: db.url, ...settings },
      }),
    {},
  );
  const url = await urlOf(api);
  const [, generatedPassword = ''] = await api.waitForOutput(/with the password (\S+)/);
  return {
    url,
    generatedPassword,
    async stop() {
      await api.destroy();
      await db.drop();
    },
  };
}
