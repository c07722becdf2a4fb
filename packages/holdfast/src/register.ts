import type { PgTransaction } from './pg-transaction.ts';

/**
 * What the application tells the types once. With another adapter than that of `pg`, name its transaction, and `ctx` of
 * every `defineJob` has it. `new Holdfast` then needs the adapter, and `new Holdfast<PgTransaction>` goes without:
 *
 * ```ts
 * declare module 'holdfast' {
 *   interface Register {
 *     transaction: MyTransaction;
 *   }
 * }
 * ```
 *
 * With `events`, the application's events and their data are known wherever one is emitted or subscribed to:
 *
 * ```ts
 * declare module 'holdfast' {
 *   interface Register {
 *     events: { 'user.registered': { userId: string } };
 *   }
 * }
 * ```
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- applications add to it
export interface Register {}

/** The transaction of the application's library: that of `Register`, or else a `pg` client. */
export type RegisteredTransaction = Register extends { transaction: infer Tx } ? Tx : PgTransaction;

/** The application's events and their data: those of `Register`, or else any. */
export type RegisteredEvents = Register extends { events: infer Events }
  ? Events
  : Readonly<Record<string, unknown>>;
