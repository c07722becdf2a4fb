import { setTimeout as sleep } from 'node:timers/promises';
import { NonRetryableError } from 'holdfast';

/** What the provider is asked to do. */
export interface Charge {
  readonly card: string;
  /** The provider charges once for each key, however often it is asked. */
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Stands for the provider of payments. The card `declined` is declined, and `busy` fails now and then. */
export async function charge({ card, idempotencyKey, signal }: Charge): Promise<string> {
  await sleep(50, undefined, { signal });
  if (card === 'declined') throw new NonRetryableError('The card was declined');
  if (card === 'busy' && Math.random() < 0.5) throw new Error('The provider is busy');
  return `payment-${idempotencyKey}`;
}
