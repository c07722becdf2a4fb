import { createOwnDatabase, createOwnSchema } from '@holdfast/database/test-databases';
import type { TestPlace } from '@holdfast/database/test-databases';
import { HoldfastError } from '@holdfast/domain';
import { OptionCheck } from '../check-options.ts';
import { Holdfast } from '../holdfast.ts';
import type { HoldfastOptions } from '../holdfast.ts';
import type { WorkerJob } from '../job-definition.ts';
import type { RegisteredTransaction } from '../register.ts';
import type { TransactionAdapter } from '../transaction-adapter.ts';
import type { Worker } from '../worker.ts';
import { givenServer } from './config.ts';
import { embeddedServer } from './embedded-server.ts';
import { TestHoldfast } from './test-holdfast.ts';

/** How a `TestHoldfast` is made. */
export interface TestHoldfastOptions<Tx = RegisteredTransaction> extends Pick<
  HoldfastOptions<Tx>,
  'logger' | 'maxPayloadBytes' | 'poolSize'
> {
  /**
   * A PostgreSQL server, of version 15 or newer, whose account may create databases. Default: the environment variable
   * `HOLDFAST_TEST_DATABASE_URL`, or else an embedded server that all tests of the process share.
   */
  readonly connectionString?: string | undefined;
  /**
   * `database` (the default): a database of its own on the server. `schema`: a schema of its own in the database that the
   * connection string names, for tables of your own that are there already, and for accounts that may create no databases;
   * takes about a second longer.
   */
  readonly isolation?: 'database' | 'schema' | undefined;
  /** The schema of Holdfast's tables in a database of its own; default `holdfast`. */
  readonly schema?: string | undefined;
  /** That of your database library, or a function that makes it for the test's database. */
  readonly adapter?:
    TransactionAdapter<Tx> | ((connectionString: string) => TransactionAdapter<Tx>) | undefined;
  /** The definitions whose jobs `drain` works, when it is told nothing else. */
  readonly jobs?: readonly WorkerJob<NoInfer<Tx>>[] | undefined;
  /** Called with the worker of each drain before it starts, to add handlers and middleware. */
  readonly prepareWorker?: ((worker: Worker<Tx>) => unknown) | undefined;
}

const optionNames = [
  ...['connectionString', 'isolation', 'schema', 'adapter', 'jobs', 'prepareWorker'],
  ...['logger', 'maxPayloadBytes', 'poolSize'],
];

/**
 * Makes a `Holdfast` on tables that no other test sees, and the means to test with it. Close it, or let `await using` do
 * so, and the tables are gone.
 *
 * @throws OptionsInvalidError; HoldfastError `test_server_missing` when there is no server and no embedded one,
 * `test_database_refused` when the account may not create a database
 * @since 0.1.0
 */
export async function createTestHoldfast<Tx = RegisteredTransaction>(
  options: TestHoldfastOptions<Tx> = {},
): Promise<TestHoldfast<Tx>> {
  checkOptions(options);
  const place = await findPlace(options);
  const { connectionString, schema } = place;
  const { adapter, jobs = [], prepareWorker, logger, maxPayloadBytes, poolSize } = options;
  try {
    const own = {
      ...{ connectionString, schema, logger, maxPayloadBytes, poolSize },
      adapter: typeof adapter === 'function' ? adapter(connectionString) : adapter,
    };
    // Most tests open no transaction, and need no adapter for them.
    const holdfast = new Holdfast(own as HoldfastOptions<Tx>);
    return new TestHoldfast({ holdfast, place, jobs, prepareWorker });
  } catch (error) {
    await place.drop();
    throw error;
  }
}

function checkOptions<Tx>(options: TestHoldfastOptions<Tx>): void {
  const check = new OptionCheck('createTestHoldfast');
  check.names(options, optionNames);
  check.oneOf('isolation', options.isolation, ['database', 'schema']);
  if (options.isolation === 'schema' && options.schema !== undefined) {
    check.refuse('with isolation "schema" the schema gets a name of its own');
  }
  check.done();
}

async function findPlace<Tx>(options: TestHoldfastOptions<Tx>): Promise<TestPlace> {
  const { isolation = 'database', schema = 'holdfast' } = options;
  const given = options.connectionString ?? givenServer();
  const server = { connectionString: given ?? (await embeddedServer()) };
  if (isolation === 'schema') return createOwnSchema(server);
  return createOwnDatabase(server, schema).catch((error: unknown) => {
    throw isRefused(error) ? refused(error) : error;
  });
}

const insufficientPrivilege = '42501';

function isRefused(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && error.code === insufficientPrivilege;
}

function refused(cause: Error): HoldfastError {
  return new HoldfastError(
    'The account may not create databases on the test server. Give it CREATEDB, or give createTestHoldfast the ' +
      `isolation "schema" (${cause.message})`,
    { cause, code: 'test_database_refused' },
  );
}
