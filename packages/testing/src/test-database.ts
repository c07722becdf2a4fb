import { randomBytes } from 'node:crypto';
import { dropExpiredPartitions, ensurePartitions, migrate, openDatabase } from '@holdfast/database';
import { runAsAdmin, urlOfDatabase } from './admin-connection.ts';
import { publishTemplate, templateDatabase } from './config.ts';
import type { Database } from '@holdfast/database';

/** A database of one test's own, with the whole schema in it. */
export interface TestDatabase {
  readonly url: string;
  readonly database: Database;
  /** Closes the connections and removes the database, whoever else is still connected to it. */
  drop(): Promise<void>;
}

const dayMs = 86_400_000;

/** Makes a database by copying the template, in a fraction of a second. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const template = requireTemplate();
  const test = await createDatabase(`template ${template}`);
  // A run may go on past midnight.
  if (!template.includes(today())) await moveToToday(test.database);
  return test;
}

/** Gives the tables that are partitioned by day the days that they have after migrations of today. */
export async function moveToToday(database: Database): Promise<void> {
  await ensurePartitions(database);
  await dropExpiredPartitions(database, dayMs);
}

/** In UTC, as `20260131`. */
function today(): string {
  return new Date().toISOString().slice(0, 10).replaceAll('-', '');
}

/** Makes a database with nothing in it, for tests of the migrations. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase('');
}

async function createDatabase(options: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runAsAdmin(`create database ${name} ${options}`);
  const url = urlOfDatabase(name);
  const database = openDatabase({ connectionString: url });
  return {
    url,
    database,
    async drop() {
      await database.close();
      await runAsAdmin(`drop database if exists ${name} with (force)`);
    },
  };
}

/** Makes the template of this run and makes it known to the test processes. Returns its removal. */
export async function makeTemplateDatabase(): Promise<() => Promise<void>> {
  // The day is read before the migrations, so that a template made at midnight counts as old.
  const name = `template_${today()}_${randomBytes(6).toString('hex')}`;
  await runAsAdmin(`create database ${name}`);
  await migrate({ connectionString: urlOfDatabase(name) });
  publishTemplate(name);
  return () => runAsAdmin(`drop database if exists ${name} with (force)`);
}

function requireTemplate(): string {
  const name = templateDatabase();
  if (name !== undefined) return name;
  throw new Error('The template database has not been made');
}
