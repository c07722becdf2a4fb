import {
  countUnpartitioned,
  durabilityWarnings,
  isTransientError,
  latestSchemaVersion,
  listPartitions,
  openDatabase,
  partitionedTables,
  readSchemaVersion,
  readServer,
  requireSupportedServer,
  searchPathWarning,
} from '@holdfast/database';
import { HoldfastError } from '@holdfast/domain';
import { createSilentLogger, exitCodes, untilAvailable } from '@holdfast/runtime';
import { readDatabaseConfig } from '../database-config.ts';
import type { Database, PartitionedTable } from '@holdfast/database';
import type { Environment } from '@holdfast/runtime';

/** One thing that was looked at. */
interface Finding {
  readonly check: string;
  readonly verdict: 'ok' | 'warning' | 'problem';
  readonly detail: string;
}

const dayMs = 86_400_000;
const partitionDaysAhead = 3;

/** `holdfast doctor`: looks at the database and says what is wrong; exits with 1 when something is. */
export async function runDoctor(
  { asJson }: { readonly asJson: boolean },
  env: Environment,
): Promise<number> {
  const database = openDatabase(readDatabaseConfig(env));
  try {
    const findings = await examine(database);
    process.stdout.write(asJson ? `${JSON.stringify(findings)}\n` : asText(findings));
    const hasProblem = findings.some(({ verdict }) => verdict === 'problem');
    return hasProblem ? exitCodes.failure : exitCodes.ok;
  } finally {
    await database.close();
  }
}

async function examine(database: Database): Promise<readonly Finding[]> {
  const server = await untilAvailable(() => readServer(database), {
    isTransient: isTransientError,
    logger: createSilentLogger(),
    maxAttempts: 2,
  });
  const durability = durabilityWarnings(server).map((detail): Finding => ({
    check: 'durability',
    verdict: 'warning',
    detail,
  }));
  const schema = await examineSchema(database);
  return [
    { check: 'connection', verdict: 'ok', detail: 'the database answers' },
    judge('version', () => {
      requireSupportedServer(server);
      return `PostgreSQL ${server.version}`;
    }),
    ...(durability.length > 0 ? durability : [durable]),
    schema,
    await examineSearchPath(database),
    ...(schema.verdict === 'ok' ? await examinePartitions(database, server.nowMs) : []),
  ];
}

const durable: Finding = {
  check: 'durability',
  verdict: 'ok',
  detail: 'fsync, full_page_writes and synchronous_commit are on',
};

async function examineSchema(database: Database): Promise<Finding> {
  const version = await readSchemaVersion(database.settings);
  return judge('schema', () => {
    if (version === latestSchemaVersion) return `version ${String(version)}`;
    throw new HoldfastError(
      `version ${String(version)}, this build needs ${String(latestSchemaVersion)}` +
        (version < latestSchemaVersion ? ': run "holdfast migrate"' : ': upgrade Holdfast'),
      { code: version < latestSchemaVersion ? 'schema_outdated' : 'schema_too_new' },
    );
  });
}

async function examineSearchPath(database: Database): Promise<Finding> {
  const check = 'search path';
  const warning = await searchPathWarning(database);
  if (warning !== undefined) return { check, verdict: 'warning', detail: warning };
  const detail = `unqualified names of the role do not lead into the schema "${database.schema}"`;
  return { check, verdict: 'ok', detail };
}

async function examinePartitions(database: Database, nowMs: number): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const neededDay = new Date(nowMs + partitionDaysAhead * dayMs)
    .toISOString()
    .slice(0, 10)
    .replaceAll('-', '');
  // The keys of the table are exactly its names.
  for (const table of Object.keys(partitionedTables) as PartitionedTable[]) {
    const days = (await listPartitions(database, table)).map(({ day }) => day);
    const lastDay = days.at(-1) ?? 'none';
    findings.push({
      check: `partitions of ${table}`,
      verdict: days.includes(neededDay) ? 'ok' : 'problem',
      detail: `${String(days.length)} days, up to ${lastDay}; any scheduler makes them ahead`,
    });
  }
  const rowCount = await countUnpartitioned(database);
  findings.push({
    check: 'default partitions',
    verdict: rowCount === 0 ? 'ok' : 'problem',
    detail: `${String(rowCount)} rows of the last day found no partition`,
  });
  return findings;
}

function judge(check: string, look: () => string): Finding {
  try {
    return { check, verdict: 'ok', detail: look() };
  } catch (error) {
    return { check, verdict: 'problem', detail: error instanceof Error ? error.message : 'failed' };
  }
}

function asText(findings: readonly Finding[]): string {
  const marks = { ok: '✔', warning: '!', problem: '✘' } as const;
  return findings
    .map(({ check, verdict, detail }) => `${marks[verdict]} ${check.padEnd(28)} ${detail}\n`)
    .join('');
}
