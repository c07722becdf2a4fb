/**
 * Compiles only when each adapter infers the library's own type for `tx` from what it is given. Nothing here runs.
 */
import type { ExtractTablesWithRelations } from 'drizzle-orm';
import type { NodePgDatabase, NodePgTransaction } from 'drizzle-orm/node-postgres';
import type { PostgresJsDatabase, PostgresJsTransaction } from 'drizzle-orm/postgres-js';
import type { DrizzleSql } from 'holdfast/drizzle';
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
type TxOf<Adapter> = Adapter extends TransactionAdapter<infer Tx> ? Tx : never;

const fromPg = (pool: Pool) => pgAdapter(pool);
expectTypeOf<TxOf<ReturnType<typeof fromPg>>>().toEqualTypeOf<PoolClient>();

const fromPostgresJs = (sql: Sql) => postgresJsAdapter(sql);
expectTypeOf<TxOf<ReturnType<typeof fromPostgresJs>>>().toEqualTypeOf<TransactionSql>();

const withParsers = (sql: Sql<Parsers>) => postgresJsAdapter(sql);
expectTypeOf<TxOf<ReturnType<typeof withParsers>>>().toEqualTypeOf<TransactionSql<Parsers>>();

const fromKysely = (db: Kysely<Tables>) => kyselyAdapter(db);
expectTypeOf<TxOf<ReturnType<typeof fromKysely>>>().toEqualTypeOf<Transaction<Tables>>();

type Schema = Record<never, never>;
type Relations = ExtractTablesWithRelations<Schema>;

const fromDrizzle = (db: NodePgDatabase<Schema>, sql: DrizzleSql) => drizzleAdapter(db, sql);
expectTypeOf<NodePgTransaction<Schema, Relations>>().toExtend<
  TxOf<ReturnType<typeof fromDrizzle>>
>();
expectTypeOf<TxOf<ReturnType<typeof fromDrizzle>>>().toHaveProperty('insert');

const onPostgresJs = (db: PostgresJsDatabase<Schema>, sql: DrizzleSql) => drizzleAdapter(db, sql);
expectTypeOf<PostgresJsTransaction<Schema, Relations>>().toExtend<
  TxOf<ReturnType<typeof onPostgresJs>>
>();
expectTypeOf<TxOf<ReturnType<typeof onPostgresJs>>>().toHaveProperty('insert');

const fromKnex = (knex: Knex) => knexAdapter(knex);
expectTypeOf<TxOf<ReturnType<typeof fromKnex>>>().toEqualTypeOf<Knex.Transaction>();

const fromPrisma = (prisma: PrismaClient) => prismaAdapter(prisma);
expectTypeOf<TxOf<ReturnType<typeof fromPrisma>>>().toEqualTypeOf<Prisma.TransactionClient>();

const extended = (prisma: PrismaClient) =>
  prismaAdapter(prisma.$extends({ client: { hello: () => 'hello' } }));
expectTypeOf<TxOf<ReturnType<typeof extended>>>().toHaveProperty('hello');
expectTypeOf<TxOf<ReturnType<typeof extended>>>().toHaveProperty('invoice');

const fromTypeOrm = (dataSource: DataSource) => typeOrmAdapter(dataSource);
expectTypeOf<TxOf<ReturnType<typeof fromTypeOrm>>>().toEqualTypeOf<EntityManager>();

const fromManager = (manager: EntityManager) => typeOrmAdapter(manager);
expectTypeOf<TxOf<ReturnType<typeof fromManager>>>().toEqualTypeOf<EntityManager>();
