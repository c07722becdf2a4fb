import {
  durabilityWarnings,
  isTransientError,
  migrate,
  openDatabase,
  readServer,
  requireSupportedServer,
} from '@holdfast/database';
import { startPostgres } from '@holdfast/embedded-postgres';
import { createSilentLogger, untilAvailable } from '@holdfast/runtime';
import type { ConnectionSettings, Database } from '@holdfast/database';
import type { EmbeddedPostgres } from '@holdfast/embedded-postgres';
import type { Service } from '@holdfast/runtime';
import type { DataDirectory } from './data-directory.ts';
import type { Steps } from './steps.ts';
import type { UpConfig } from './up-config.ts';

/** A database that is up, supported and migrated once the service has started. */
export interface DatabaseService extends Service {
  readonly url: string;
  readonly database: Database;
  /** Whether another start in the same folder runs the server. */
  readonly isShared: boolean;
}

/** Uses the server at `DATABASE_URL`, or starts an embedded one that stops with this process. */
export function createDatabaseService(options: {
  readonly config: UpConfig;
  readonly dataDirectory: DataDirectory;
  readonly steps: Steps;
}): DatabaseService {
  return new MigratedDatabase(options);
}

class MigratedDatabase implements DatabaseService {
  readonly name = 'database';
  readonly #config: UpConfig;
  readonly #dataDirectory: DataDirectory;
  readonly #steps: Steps;
  #embedded: EmbeddedPostgres | undefined;
  #database: Database | undefined;
  #url: string | undefined;

  constructor(options: {
    readonly config: UpConfig;
    readonly dataDirectory: DataDirectory;
    readonly steps: Steps;
  }) {
    this.#config = options.config;
    this.#dataDirectory = options.dataDirectory;
    this.#steps = options.steps;
  }

  get url(): string {
    return started(this.#url);
  }

  get database(): Database {
    return started(this.#database);
  }

  get isShared(): boolean {
    return this.#embedded?.reused === true;
  }

  async start(): Promise<void> {
    await this.#steps.run('PostgreSQL', () => this.#connect());
    if (this.isShared) {
      this.#steps.warn(
        'Holdfast runs in this folder already; this start joins its database, which stops with that one',
      );
    }
    await this.#steps.run('migrations', async () => {
      const { applied, version } = await migrate(this.#settings());
      const news = applied.length === 0 ? 'up to date' : `${String(applied.length)} applied`;
      return `${news}, schema version ${String(version)}`;
    });
  }

  async stop(): Promise<void> {
    await this.#database?.close();
    await this.#embedded?.stop();
  }

  async #connect(): Promise<string> {
    const place = await this.#findServer();
    const database = openDatabase(this.#settings());
    this.#database = database;
    const server = await untilAvailable(() => readServer(database), {
      isTransient: isTransientError,
      logger: createSilentLogger(),
      maxAttempts: 5,
    });
    requireSupportedServer(server);
    for (const warning of durabilityWarnings(server)) {
      this.#steps.warn(`WARNING: ${warning}`);
    }
    return `${server.version.split(' ')[0] ?? ''}  ${place}`;
  }

  /** Sets the URL and says in words where the server is. */
  async #findServer(): Promise<string> {
    if (this.#config.databaseUrl !== undefined) {
      this.#url = this.#config.databaseUrl;
      const { host, pathname } = new URL(this.#url);
      return `${host}${pathname}  (DATABASE_URL)`;
    }
    const embedded = await startPostgres({ dataDir: this.#dataDirectory.postgresPath });
    this.#embedded = embedded;
    this.#url = embedded.url;
    const origin = embedded.reused ? 'embedded, running already' : 'embedded, for trying out';
    return `127.0.0.1:${String(embedded.port)}  data in ${embedded.dataDir}  (${origin})`;
  }

  #settings(): ConnectionSettings {
    return {
      connectionString: this.url,
      schema: this.#config.schema,
      applicationName: 'holdfast up',
    };
  }
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The database service has not started');
  return value;
}
