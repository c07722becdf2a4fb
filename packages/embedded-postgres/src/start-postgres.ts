import { rmSync } from 'node:fs';
import { defaultCacheDir } from './cache-folder.ts';
import { makePassword, readPassword } from './cluster-password.ts';
import { createCluster, superuser } from './create-cluster.ts';
import { inspectDataDirectory, placeDataDirectory } from './data-directory.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { freePort } from './free-port.ts';
import { findBinaries } from './native-binaries.ts';
import { readPostmaster } from './postmaster-pid.ts';
import { startServer, stopServer, waitUntilReady } from './server-process.ts';
import { chooseServerUser } from './server-user.ts';
import { isGuarded, startWatchdog } from './watchdog.ts';
import type { Postmaster } from './postmaster-pid.ts';
import type { Cluster, StopMode } from './server-process.ts';
import type { Watchdog } from './watchdog.ts';

/** What a caller may choose about its server. */
export interface StartPostgresOptions {
  /** Where the cluster lives; made when missing. Its password and log lie beside it. */
  readonly dataDir: string;
  /** The TCP port on 127.0.0.1; a free one when left out. */
  readonly port?: number;
  /** Server settings, on top of the defaults. Durability is on unless switched off here. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Where programs and data go when the server's account cannot reach them. */
  readonly cacheDir?: string;
  /** Told about each step that takes a while, in words for people. */
  readonly onProgress?: (message: string) => void;
}

/** A running server. */
export interface EmbeddedPostgres {
  /** Connects as the superuser; holds the password, so it belongs in no log. */
  readonly url: string;
  readonly port: number;
  /** Where the cluster really is: elsewhere than asked when the server's account cannot get there. */
  readonly dataDir: string;
  /** Such as `17.10`. */
  readonly version: string;
  /** True when another process had started it already; that process also stops it. */
  readonly reused: boolean;
  /** Stops the server and waits for its end; does nothing to a reused one. Safe to call twice. */
  stop(mode?: StopMode): Promise<void>;
  /** Crashes the server and starts it again on the same port, as `pg_ctl restart -m immediate` does. */
  restartImmediate(): Promise<void>;
}

interface Launch {
  readonly cluster: Cluster;
  readonly port: number | undefined;
  readonly settings: Readonly<Record<string, string>>;
  readonly onProgress: (message: string) => void;
}

const defaultSettings = {
  listen_addresses: '127.0.0.1',
  // TCP with a password serves every client; a socket file would need a path short enough for it.
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Not "$user": the superuser has the name of Holdfast's schema, where no tables of applications belong.
  search_path: 'public',
};

const portAttempts = 5;

/**
 * Starts PostgreSQL 17 in a data directory, or joins the server that already runs there.
 * The server ends together with this process, however that dies.
 * Throws EmbeddedPostgresError, whose message says what can be done about it.
 */
export async function startPostgres(options: StartPostgresOptions): Promise<EmbeddedPostgres> {
  const launch = prepare(options);
  const running = await joinRunning(launch);
  if (running !== undefined) return running;
  await ensureCluster(launch);
  try {
    return await startOwn(launch);
  } catch (error) {
    // Somebody else may have started a server here in the meantime.
    const rival = await joinRunning(launch);
    if (rival === undefined) throw error;
    return rival;
  }
}

function prepare(options: StartPostgresOptions): Launch {
  const onProgress = options.onProgress ?? (() => undefined);
  const cacheDir = options.cacheDir ?? defaultCacheDir();
  const user = chooseServerUser(options.dataDir);
  const dataDir = placeDataDirectory({ dataDir: options.dataDir, user, cacheDir, onProgress });
  const binaries = findBinaries({ user, cacheDir, onProgress });
  return {
    cluster: { dataDir, user, binaries },
    port: options.port,
    settings: { ...defaultSettings, ...options.settings },
    onProgress,
  };
}

async function ensureCluster({ cluster, settings, onProgress }: Launch): Promise<void> {
  const { dataDir } = cluster;
  const state = inspectDataDirectory(dataDir);
  if (state === 'made') return;
  onProgress(`preparing a PostgreSQL data directory in ${dataDir}`);
  if (state === 'half_made') rmSync(dataDir, { recursive: true });
  const isDurable = settings['fsync'] !== 'off';
  await createCluster({ ...cluster, password: makePassword(dataDir), isDurable });
}

async function joinRunning(launch: Launch): Promise<EmbeddedPostgres | undefined> {
  const { dataDir } = launch.cluster;
  const found = readPostmaster(dataDir);
  if (found === undefined) return undefined;
  launch.onProgress(`joining the PostgreSQL server that runs in ${dataDir}`);
  const failure = () => (readPostmaster(dataDir) === undefined ? 'it ended' : undefined);
  try {
    const postmaster = await waitUntilReady(dataDir, { failure, accepts: () => true });
    // A server whose starter and watchdog are both dead has nobody left to stop it.
    const watchdog = isGuarded(dataDir) ? undefined : startWatchdog(launch.cluster);
    return describe(launch, { postmaster, watchdog, reused: true });
  } catch (error) {
    if (readPostmaster(dataDir) === undefined) return undefined;
    throw error;
  }
}

async function startOwn(launch: Launch): Promise<EmbeddedPostgres> {
  launch.onProgress('starting PostgreSQL');
  const watchdog = startWatchdog(launch.cluster);
  try {
    const postmaster = await startOnFreePort(launch);
    return describe(launch, { postmaster, watchdog, reused: false });
  } catch (error) {
    watchdog.dismiss();
    throw error;
  }
}

async function startOnFreePort({ cluster, port, settings }: Launch): Promise<Postmaster> {
  if (port !== undefined) return startServer(cluster, { port, settings });
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startServer(cluster, { port: await freePort(), settings });
    } catch (error) {
      const isPortTaken = error instanceof Error && error.message.includes('could not bind');
      if (!isPortTaken || attempt === portAttempts) throw error;
    }
  }
}

interface Running {
  readonly postmaster: Postmaster;
  /** Undefined when another process guards the server, and so is the one to stop it. */
  readonly watchdog: Watchdog | undefined;
  readonly reused: boolean;
}

function describe(launch: Launch, { postmaster, reused, ...running }: Running): EmbeddedPostgres {
  const { cluster, settings } = launch;
  const { port } = postmaster;
  const password = readPassword(cluster.dataDir);
  let { watchdog } = running;
  return {
    url: `postgres://${superuser}:${password}@127.0.0.1:${port}/postgres`,
    port,
    dataDir: cluster.dataDir,
    version: cluster.binaries.version,
    reused,
    async stop(mode = 'fast') {
      if (watchdog === undefined) return;
      await stopServer(cluster, mode);
      watchdog.dismiss();
      watchdog = undefined;
    },
    async restartImmediate() {
      if (watchdog === undefined) throw notOurs(cluster.dataDir);
      await stopServer(cluster, 'immediate');
      await startServer(cluster, { port, settings });
    },
  };
}

function notOurs(dataDir: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'embedded_postgres_data_dir_in_use',
    `The server in ${dataDir} belongs to another process, which alone may restart it.`,
  );
}
