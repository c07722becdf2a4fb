import { createHash, randomBytes } from 'node:crypto';
import { requireSchemaName } from './connection-settings.ts';
import type { ConnectionSettings } from './connection-settings.ts';
import { openDatabase } from './database.ts';
import { migrations } from './generated/migrations.ts';
import { migrate } from './migrate.ts';

/** Where a test's tables are, and how they are removed. */
export interface TestPlace {
  readonly connectionString: string;
  readonly schema: string;
  /** Removes the tables, whoever else is still connected. */
  drop(): Promise<void>;
}

/** Which server, and how it is reached. */
export type TestServer = Pick<ConnectionSettings, 'connectionString' | 'ssl'>;

/**
 * Makes a database of a test's own, by copying one that has the tables; that one is made on the first call and stays on
 * the server for later runs. Its name begins with `holdfast_template_`, that of a copy with `holdfast_test_`.
 */
export async function createOwnDatabase(server: TestServer, schema: string): Promise<TestPlace> {
  const template = templateName(schema);
  if (!(await hasDatabase(server, template))) await makeTemplate(server, { template, schema });
  const name = `holdfast_test_${randomBytes(6).toString('hex')}`;
  await runAlone(server, `create database ${name} template ${template}`);
  return {
    connectionString: urlOf(server, name),
    schema,
    drop: () => runAlone(server, `drop database if exists ${name} with (force)`),
  };
}

/** Makes a schema of a test's own in the given database; it takes longer than a copied database. */
export async function createOwnSchema(server: TestServer): Promise<TestPlace> {
  const schema = `holdfast_test_${randomBytes(6).toString('hex')}`;
  const { connectionString } = server;
  const drop = (): Promise<void> => runAlone(server, `drop schema if exists ${schema} cascade`);
  try {
    await migrate({ ...server, schema });
  } catch (error) {
    await drop().catch(() => undefined);
    throw error;
  }
  return { connectionString, schema, drop };
}

/** The same migrations in the same schema make the same template. */
function templateName(schema: string): string {
  const hash = createHash('sha256').update(requireSchemaName(schema));
  for (const { checksum } of migrations) hash.update(checksum);
  return `holdfast_template_${hash.digest('hex').slice(0, 16)}`;
}

/** Under another name first, so that nobody copies what is half made, and any number of processes may try. */
async function makeTemplate(
  server: TestServer,
  { template, schema }: { readonly template: string; readonly schema: string },
): Promise<void> {
  const name = `holdfast_making_${randomBytes(6).toString('hex')}`;
  await runAlone(server, `create database ${name}`);
  try {
    await migrate({ ...server, connectionString: urlOf(server, name), schema });
    await runAlone(server, `alter database ${name} rename to ${template}`);
  } catch (error) {
    await runAlone(server, `drop database if exists ${name} with (force)`);
    // Somebody else was faster.
    if (await hasDatabase(server, template)) return;
    throw error;
  }
}

async function hasDatabase(server: TestServer, name: string): Promise<boolean> {
  const database = openDatabase({ ...server, poolSize: 1 });
  try {
    const rows = await database.query(
      { name: 'find_database', text: 'select from pg_database where datname = $1' },
      [name],
    );
    return rows.length > 0;
  } finally {
    await database.close();
  }
}

/** One statement on a connection of its own; names in it are made here. */
async function runAlone(server: TestServer, sql: string): Promise<void> {
  const database = openDatabase({ ...server, poolSize: 1 });
  try {
    await database.execute(sql);
  } finally {
    await database.close();
  }
}

function urlOf({ connectionString }: TestServer, database: string): string {
  const url = new URL(connectionString);
  url.pathname = `/${database}`;
  return url.href;
}
