import type { Holdfast } from './holdfast.ts';
import type { RegisteredTransaction } from './register.ts';

/**
 * The part of a `Holdfast` that makes jobs and events. Code that takes this can be given the fake of `holdfast/testing`
 * in its place.
 *
 * @typeParam Tx the transaction of the application's database library
 */
export type HoldfastProducer<Tx = RegisteredTransaction> = Pick<
  Holdfast<Tx>,
  'enqueue' | 'enqueueMany' | 'batch' | 'chain' | 'graph' | 'emit'
>;
