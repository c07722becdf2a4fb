import type { Backoff } from '@holdfast/contract';

/** A backoff in words: `5s, 10s, 20s … 1h, with jitter`. */
export function describeBackoff(backoff: Backoff): string {
  switch (backoff.kind) {
    case 'exponential': {
      const jitter = backoff.jitter === 'full' ? ', any part of it' : '';
      return `${backoff.base} × ${String(backoff.factor)} each time, up to ${backoff.max}${jitter}`;
    }
    case 'list':
      return backoff.delays.join(', ');
    case 'fixed':
      return `${backoff.delay} each time`;
  }
}
