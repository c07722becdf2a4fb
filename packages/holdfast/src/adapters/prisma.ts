import { TransactionInvalidError } from '@holdfast/domain';
import type { TransactionAdapter } from '../transaction-adapter.ts';
import type { AdapterOptions, IsolationLevel } from './adapter-options.ts';
import { plainRows } from './plain-rows.ts';

/** What the adapter uses of the client inside of an interactive transaction of Prisma. */
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: unknown[]): PromiseLike<unknown>;
}

type PrismaIsolationLevel = 'ReadCommitted' | 'RepeatableRead' | 'Serializable';

interface PrismaTransactionOptions {
  isolationLevel?: PrismaIsolationLevel;
  maxWait?: number;
  timeout?: number;
}

/** What the adapter uses of a `PrismaClient`, extended or not. The first form is only here because Prisma has it. */
export interface PrismaRoot<Tx> {
  $transaction(statements: never[]): Promise<unknown>;
  $transaction<Result>(
    run: (tx: Tx) => Promise<Result>,
    options?: PrismaTransactionOptions,
  ): Promise<Result>;
}

/** Options of {@link prismaAdapter}. Prisma's own defaults are short: they end a transaction after five seconds. */
export interface PrismaAdapterOptions extends AdapterOptions {
  /** Milliseconds that a transaction may take altogether; Prisma's default is 5 000. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds to wait for a connection; Prisma's default is 2 000. */
  readonly maxWaitMs?: number | undefined;
}

const levels = {
  'read committed': 'ReadCommitted',
  'repeatable read': 'RepeatableRead',
  serializable: 'Serializable',
} as const satisfies Record<IsolationLevel, PrismaIsolationLevel>;

/**
 * Takes part in interactive transactions of Prisma: `tx` is what `prisma.$transaction(async (tx) => …)` gives you.
 *
 * @param prisma opens the transactions of `ctx.transaction`
 * @since 0.1.0
 */
export function prismaAdapter<Tx extends PrismaTransaction>(
  prisma: PrismaRoot<Tx>,
  options: PrismaAdapterOptions = {},
): TransactionAdapter<Tx> {
  const sent = transactionOptions(options);
  return {
    name: 'Prisma',
    toQueryable(tx) {
      requireTransaction(tx);
      return {
        async query(text, values) {
          const rows = await tx.$queryRawUnsafe(text, ...values);
          return plainRows(rows as readonly object[]);
        },
      };
    },
    transaction: (run) => prisma.$transaction(run, sent),
  };
}

function transactionOptions(options: PrismaAdapterOptions): PrismaTransactionOptions {
  const { isolationLevel, maxWaitMs, timeoutMs } = options;
  return {
    ...(isolationLevel !== undefined && { isolationLevel: levels[isolationLevel] }),
    ...(maxWaitMs !== undefined && { maxWait: maxWaitMs }),
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  };
}

function requireTransaction(tx: object): void {
  // Only the root client can connect.
  if ('$queryRawUnsafe' in tx && !('$connect' in tx && tx.$connect !== undefined)) return;
  throw new TransactionInvalidError(
    'tx is not the client that prisma.$transaction(async (tx) => …) gives, but the root client or something else',
  );
}
