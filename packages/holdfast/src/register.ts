import type { PgTransaction } from './pg-transaction.ts';

/**
 * What the application tells the types once. With another adapter than that of `pg`, name its transaction, and `ctx` of
 * every `defineJob` has it:
 *
 * ```ts
 * declare module 'holdfast' {
 *   interface Register {
 *     transaction: MyTransaction;
 *   }
 * }
 * ```
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- applications add to it
export interface Register {}

/** The transaction of the application's library: that of `Register`, or else a `pg` client. */
export type RegisteredTransaction = Register extends { transaction: infer Tx } ? Tx : PgTransaction;
