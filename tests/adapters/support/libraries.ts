import type { LibraryCase } from './library.ts';
import { drizzleCase, drizzleOnPostgresJsCase } from './libraries/drizzle.ts';
import { knexCase } from './libraries/knex.ts';
import { kyselyCase } from './libraries/kysely.ts';
import { pgCase } from './libraries/pg.ts';
import { postgresJsCase } from './libraries/postgres-js.ts';
import { prismaCase } from './libraries/prisma.ts';
import { typeOrmCase } from './libraries/typeorm.ts';

/** Every library that has an adapter. */
export const libraries: readonly LibraryCase[] = [
  pgCase,
  postgresJsCase,
  kyselyCase,
  drizzleCase,
  drizzleOnPostgresJsCase,
  knexCase,
  prismaCase,
  typeOrmCase,
];
