import { existsSync } from 'node:fs';
import type { Environment } from '@holdfast/runtime';
import type { DataDirectory } from './data-directory.ts';
import type { StackFiles } from './stack.ts';
import type { UpConfig } from './up-config.ts';

/** Where the demo's web service listens, or on the next free port. */
export const demoTargetPort = 3_900;
const neighbourPorts = 5;

/** What the processes are told. */
export interface ProcessPlanOptions {
  readonly config: UpConfig;
  readonly files: StackFiles;
  readonly dataDirectory: DataDirectory;
  readonly databaseUrl: string;
  readonly port: number;
  /** Where the demo's web service listens. */
  readonly targetPort: number;
}

/** The environment of each kind of process. */
export interface ProcessPlan {
  readonly api: Environment;
  readonly worker: Environment;
  readonly scheduler: Environment;
  readonly target: Environment;
}

/** Secrets that only the API needs; handlers run in the worker and must not see them. */
const apiSecrets = [
  'HOLDFAST_ADMIN_PASSWORD',
  'HOLDFAST_ADMIN_PASSWORD_FILE',
  'HOLDFAST_SECRET',
  'HOLDFAST_SECRET_FILE',
] as const;

/** Builds the environments: the caller's own, with what the parts must agree on. */
export function planProcesses(options: ProcessPlanOptions): ProcessPlan {
  const { config, databaseUrl, targetPort } = options;
  const logFormat = config.isVerbose && process.stdout.isTTY ? 'pretty' : 'json';
  const shared: Environment = {
    LOG_FORMAT: logFormat,
    ...without(config.env, apiSecrets),
    DATABASE_URL: databaseUrl,
    // Each process listens on a port of its own; one number for all of them cannot work.
    HOLDFAST_PROBE_PORT: undefined,
    DATABASE_URL_FILE: undefined,
  };
  return {
    api: { ...shared, ...apiSettings(options) },
    worker: { ...shared, ...workerSettings(options) },
    scheduler: shared,
    target: { ...shared, DATABASE_URL: undefined, PORT: String(targetPort) },
  };
}

function apiSettings({ config, files, dataDirectory, port }: ProcessPlanOptions): Environment {
  return {
    PORT: String(port),
    HOLDFAST_ADMIN_EMAIL: config.adminEmail,
    ...(config.adminPassword === undefined
      ? { HOLDFAST_ADMIN_PASSWORD_FILE: existingPath(dataDirectory.passwordPath) }
      : pick(config.env, ['HOLDFAST_ADMIN_PASSWORD', 'HOLDFAST_ADMIN_PASSWORD_FILE'])),
    ...(config.hasSecret
      ? pick(config.env, ['HOLDFAST_SECRET', 'HOLDFAST_SECRET_FILE'])
      : { HOLDFAST_SECRET_FILE: dataDirectory.secretPath }),
    ...(config.env['HOLDFAST_WEB_ROOT'] === undefined && files.webRoot !== undefined
      ? { HOLDFAST_WEB_ROOT: files.webRoot }
      : {}),
  };
}

function workerSettings({ config, files, targetPort }: ProcessPlanOptions): Environment {
  if (!config.hasDemo) return {};
  const { env } = config;
  return {
    HOLDFAST_HANDLERS: config.handlers ?? files.demoHandlers,
    // The demo's web service is on loopback, which is closed unless it is opened on purpose.
    HOLDFAST_EGRESS_ALLOW_HOSTS: joinLists(
      env['HOLDFAST_EGRESS_ALLOW_HOSTS'],
      demoHosts(targetPort),
    ),
    HOLDFAST_EGRESS_ALLOW_CIDRS: joinLists(env['HOLDFAST_EGRESS_ALLOW_CIDRS'], '127.0.0.1/32'),
  };
}

/** Two starts may share one database: the workers of each run the jobs of both, so the other's port is open too. */
function demoHosts(targetPort: number): string {
  const ports = new Set([targetPort]);
  for (let offset = 0; offset < neighbourPorts; offset += 1) ports.add(demoTargetPort + offset);
  return [...ports].map((port) => `http://127.0.0.1:${String(port)}`).join(',');
}

function existingPath(path: string): string | undefined {
  return existsSync(path) ? path : undefined;
}

function joinLists(list: string | undefined, entry: string): string {
  return list === undefined || list === '' ? entry : `${list},${entry}`;
}

function pick(env: Environment, names: readonly string[]): Environment {
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

function without(env: Environment, names: readonly string[]): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}
