/**
 * Compiles only when each adapter infers the library's own type for `tx` from what it is given. Nothing here runs.
 */
import type { ExtractTablesWithRelations } from 'drizzle-orm';
import type { PgTable, PgTransaction } from 'drizzle-orm/pg-core';
import type { NodePgDatabase, NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import type { PostgresJsDatabase, PostgresJsQueryResultHKT } from 'drizzle-orm/postgres-js';
import type { DrizzleSql } from 'holdfast/drizzle';
import { Holdfast } from 'holdfast';
import type { TransactionAdapter } from 'holdfast';
import { drizzleAdapter } from 'holdfast/drizzle';
import { knexAdapter } from 'holdfast/knex';
import { kyselyAdapter } from 'holdfast/kysely';
import { pgAdapter } from 'holdfast/pg';
import { postgresJsAdapter } from 'holdfast/postgres-js';
import { prismaAdapter } from 'holdfast/prisma';
import { typeOrmAdapter } from 'holdfast/typeorm';
import type { Knex } from 'knex';
import type { Kysely, Transaction } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Sql, TransactionSql } from 'postgres';
import type { DataSource, EntityManager } from 'typeorm';
import { expectTypeOf } from 'vitest';
import type { Prisma, PrismaClient } from '../prisma/generated/client.ts';

interface Tables {
  readonly invoices: { readonly id: string };
}

type Parsers = Record<'point', { x: number; y: number }>;

declare function txOf<Tx>(adapterOf: (...args: never[]) => TransactionAdapter<Tx>): Tx;

const fromPg = (pool: Pool) => pgAdapter(pool);
expectTypeOf(txOf(fromPg)).toEqualTypeOf<PoolClient>();

const fromPostgresJs = (sql: Sql) => postgresJsAdapter(sql);
expectTypeOf(txOf(fromPostgresJs)).toEqualTypeOf<TransactionSql>();

const withParsers = (sql: Sql<Parsers>) => postgresJsAdapter(sql);
expectTypeOf(txOf(withParsers)).toEqualTypeOf<TransactionSql<Parsers>>();

const fromKysely = (db: Kysely<Tables>) => kyselyAdapter(db);
expectTypeOf(txOf(fromKysely)).toEqualTypeOf<Transaction<Tables>>();

type Schema = Record<'invoices', PgTable>;
type Relations = ExtractTablesWithRelations<Schema>;

const fromDrizzle = (db: NodePgDatabase<Schema>, sql: DrizzleSql) => drizzleAdapter(db, sql);
expectTypeOf(txOf(fromDrizzle)).toEqualTypeOf<
  PgTransaction<NodePgQueryResultHKT, Schema, Relations>
>();

// As the guide names it for `Register`.
type OfDrizzle = NodePgDatabase<Schema>['transaction'];
expectTypeOf(txOf(fromDrizzle)).toEqualTypeOf<Parameters<Parameters<OfDrizzle>[0]>[0]>();

const onPostgresJs = (db: PostgresJsDatabase<Schema>, sql: DrizzleSql) => drizzleAdapter(db, sql);
expectTypeOf(txOf(onPostgresJs)).toEqualTypeOf<
  PgTransaction<PostgresJsQueryResultHKT, Schema, Relations>
>();

const fromKnex = (knex: Knex) => knexAdapter(knex);
expectTypeOf(txOf(fromKnex)).toEqualTypeOf<Knex.Transaction>();

const fromPrisma = (prisma: PrismaClient) => prismaAdapter(prisma);
expectTypeOf(txOf(fromPrisma)).toEqualTypeOf<Prisma.TransactionClient>();

const extended = (prisma: PrismaClient) =>
  prismaAdapter(prisma.$extends({ client: { hello: () => 'hello' } }));
expectTypeOf(txOf(extended)).toHaveProperty('hello');
expectTypeOf(txOf(extended)).toHaveProperty('invoice');

const fromTypeOrm = (dataSource: DataSource) => typeOrmAdapter(dataSource);
expectTypeOf(txOf(fromTypeOrm)).toEqualTypeOf<EntityManager>();

const fromManager = (manager: EntityManager) => typeOrmAdapter(manager);
expectTypeOf(txOf(fromManager)).toEqualTypeOf<EntityManager>();

const enqueueWith = (db: Kysely<Tables>, tx: Transaction<Tables>) => {
  const holdfast = new Holdfast({ connectionString: '', adapter: kyselyAdapter(db) });
  // @ts-expect-error The root db is no transaction.
  const wrong = holdfast.enqueue('invoice.send', {}, { tx: db });
  return [wrong, holdfast.enqueue('invoice.send', {}, { tx })];
};
expectTypeOf(enqueueWith).toBeFunction();
