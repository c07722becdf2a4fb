import { readStoredJobSettings } from '@holdfast/domain';
import type { RetryPolicy } from '@holdfast/domain';
import { textArray } from './array-literal.ts';
import type { Database } from './database.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** A queue as enqueuers need it. */
export interface QueueEntry {
  /** A bigint as text. */
  readonly id: string;
  readonly name: string;
  readonly jobDefaults: QueueJobDefaults;
}

/** What a queue says for jobs that name nothing themselves; durations in milliseconds. */
export interface QueueJobDefaults {
  readonly maxAttempts?: number;
  readonly timeoutMs?: number;
  readonly retry?: RetryPolicy;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly job_defaults: unknown;
}

const freshForMs = 2_000;
/** A queue that another process makes at the same moment is seen at the second look. */
const maxLooks = 3;
const directories = new WeakMap<Database, Map<string, QueueEntry & { readonly readAt: number }>>();

/**
 * Finds queues by name and makes those that do not exist. Answers are kept for two seconds: a queue's id never changes,
 * not even when it is deleted and used again.
 */
export async function resolveQueues(
  database: Database,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, QueueEntry>> {
  const directory = directoryOf(database);
  const now = performance.now();
  const found = new Map(freshQueues(database, projectId, names));
  const missing = new Set(names.filter((name) => !found.has(name)));
  for (let look = 0; look < maxLooks && missing.size > 0; look += 1) {
    const values = [projectId, textArray([...missing])];
    for (const row of await database.query<Row>(statements.ensureQueues, values)) {
      const entry = { ...toEntry(row), readAt: now };
      directory.set(`${projectId}/${row.name}`, entry);
      found.set(row.name, entry);
      missing.delete(row.name);
    }
  }
  return found;
}

/**
 * The same for jobs that become part of a transaction, if there is one. A queue that it has made itself, by SQL, is seen
 * by nobody else, and to make it a second time would be to wait for the transaction's own end.
 */
export async function resolveQueuesFor(
  tx: Queryable | undefined,
  request: {
    readonly database: Database;
    readonly projectId: string;
    readonly names: readonly string[];
  },
): Promise<ReadonlyMap<string, QueueEntry>> {
  const { database, projectId, names } = request;
  if (tx === undefined) return resolveQueues(database, projectId, names);
  const found = new Map(freshQueues(database, projectId, names));
  const missing = (): readonly string[] => names.filter((name) => !found.has(name));
  const readAt = performance.now();
  for (const entry of await findQueues(database, projectId, missing())) {
    directoryOf(database).set(`${projectId}/${entry.name}`, { ...entry, readAt });
    found.set(entry.name, entry);
  }
  // Not to be remembered: they may never be committed.
  for (const entry of await findQueues(tx, projectId, missing())) found.set(entry.name, entry);
  const made = await resolveQueues(database, projectId, missing());
  return new Map([...found, ...made]);
}

/** Queues that exist, of these names. */
async function findQueues(
  on: Queryable,
  projectId: string,
  names: readonly string[],
): Promise<readonly QueueEntry[]> {
  if (names.length === 0) return [];
  const rows = await on.query<Pick<Row, 'id' | 'name'> & { readonly job_defaults: string }>(
    statements.findQueues,
    [projectId, textArray(names)],
  );
  // Written by this product.
  return rows.map((row) =>
    toEntry({ ...row, job_defaults: JSON.parse(row.job_defaults) as QueueJobDefaults }),
  );
}

/** What was read of queues a moment ago, by name. */
function freshQueues(
  database: Database,
  projectId: string,
  names: readonly string[],
): ReadonlyMap<string, QueueEntry> {
  const directory = directoryOf(database);
  const now = performance.now();
  const found = new Map<string, QueueEntry>();
  for (const name of names) {
    const entry = directory.get(`${projectId}/${name}`);
    if (entry !== undefined && now - entry.readAt < freshForMs) found.set(name, entry);
  }
  return found;
}

/**
 * Finds queues, or makes them, as part of a transaction. Nothing is remembered of them, since the transaction may come to
 * nothing.
 */
export async function ensureQueuesWithin(
  tx: Queryable,
  projectId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, QueueEntry>> {
  const found = new Map<string, QueueEntry>();
  for (let look = 0; look < maxLooks && found.size < names.length; look += 1) {
    const missing = names.filter((name) => !found.has(name));
    for (const row of await tx.query<Row>(statements.ensureQueues, [
      projectId,
      textArray(missing),
    ])) {
      found.set(row.name, toEntry(row));
    }
  }
  return found;
}

function toEntry({ id, name, job_defaults }: Row): QueueEntry {
  return { id, name, jobDefaults: readJobDefaults(job_defaults) };
}

/** What is stored of a queue's defaults; somebody may have written it in SQL. */
export function readJobDefaults(stored: unknown): QueueJobDefaults {
  const { maxAttempts, timeoutMs, retry } = readStoredJobSettings(stored);
  return {
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retry === undefined ? {} : { retry }),
  };
}

/** Forgets what was read of a queue, after this process changed it. */
export function forgetQueue(database: Database, projectId: string, name: string): void {
  directories.get(database)?.delete(`${projectId}/${name}`);
}

function directoryOf(database: Database): Map<string, QueueEntry & { readonly readAt: number }> {
  let directory = directories.get(database);
  if (directory === undefined) {
    directory = new Map();
    directories.set(database, directory);
  }
  return directory;
}
