import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@holdfast/embedded-postgres';
import type { EmbeddedPostgres } from '@holdfast/embedded-postgres';
import {
  ensurePartitions,
  findProject,
  migrate,
  openDatabase,
  resolveQueues,
} from '@holdfast/database';
import type { Database, SqlValue } from '@holdfast/database';
import { familySeconds } from './processor-time.ts';

/** The server that everything is measured on, with one project and one queue. */
export interface BenchServer {
  readonly url: string;
  readonly database: Database;
  readonly projectId: string;
  readonly queueId: string;
  /** A folder of this run whose files the server can read. */
  readonly folder: string;
  /** Empties every table of jobs. */
  clear(): Promise<void>;
  /** ANALYZE and CHECKPOINT: what came before must not cost what comes now. */
  settle(): Promise<void>;
  /** Rows of a query that is none of the product's. */
  ask<Row extends object>(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]>;
  /** Processor seconds of the server so far; `undefined` where the system does not tell. */
  cpuSeconds(): number | undefined;
  stop(): Promise<void>;
}

/** The name of the queue that everything goes through. */
export const queueName = 'bench';

/** What differs from the server's defaults. Durability is at its defaults: on. */
export const serverSettings = { shared_buffers: '1GB', max_wal_size: '4GB' } as const;

const jobTables = [
  'jobs',
  'job_history',
  'job_executions',
  'job_logs',
  'job_endings',
  'job_dependencies',
  'batch_callbacks',
  'batches',
  'stats_minutely',
  'workers',
];

/** Starts a server in a folder of its own, with the product's schema. */
export async function startBenchServer(): Promise<BenchServer> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  // The server may have an account of its own, which reads files from here.
  chmodSync(folder, 0o755);
  const postgres = await startPostgres({
    dataDir: join(folder, 'data'),
    settings: serverSettings,
  });
  await migrate({ connectionString: postgres.url });
  const database = openDatabase({ connectionString: postgres.url, applicationName: 'bench' });
  await ensurePartitions(database);
  const project = await findProject(database, 'default');
  if (project === undefined) throw new Error('The default project is missing');
  const queues = await resolveQueues(database, project.id, [queueName]);
  const queueId = queues.get(queueName)?.id;
  if (queueId === undefined) throw new Error('The queue could not be made');
  return describe({ postgres, database, folder, projectId: project.id, queueId });
}

interface Parts {
  readonly postgres: EmbeddedPostgres;
  readonly database: Database;
  readonly folder: string;
  readonly projectId: string;
  readonly queueId: string;
}

function describe({ postgres, database, folder, projectId, queueId }: Parts): BenchServer {
  const postmasterPid = Number(
    readFileSync(join(postgres.dataDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0],
  );
  return {
    url: postgres.url,
    database,
    projectId,
    queueId,
    folder,
    async clear() {
      await database.execute(
        `truncate ${jobTables.map((table) => `holdfast.${table}`).join(', ')}`,
      );
    },
    async settle() {
      await database.execute('analyze');
      await database.execute('checkpoint');
    },
    ask<Row extends object>(text: string, values: readonly SqlValue[] = []) {
      // Without a name the server does not keep it.
      return database.query<Row>({ name: '', text }, values);
    },
    cpuSeconds: () => familySeconds(postmasterPid),
    async stop() {
      await database.close();
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
