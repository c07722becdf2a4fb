import type { Backoff, Queue } from '@holdfast/contract';
import type { QueueSettings } from '../../api/queues.ts';

/** The settings of a queue as the form has them: text and numbers, empty where there is none. */
export interface QueueFormValues {
  readonly name: string;
  /** Empty: no limit. */
  readonly concurrency: number | string;
  readonly retry: 'automatic' | 'manual';
  readonly maxAttempts: number | string;
  readonly timeout: string;
  readonly backoffKind: 'exponential' | 'list' | 'fixed';
  readonly base: string;
  readonly max: string;
  /** Delays, separated by commas. */
  readonly delays: string;
}

const newQueueValues: QueueFormValues = {
  name: '',
  concurrency: '',
  retry: 'automatic',
  maxAttempts: 5,
  timeout: '5m',
  backoffKind: 'exponential',
  base: '5s',
  max: '1h',
  delays: '10s, 1m, 5m',
};

/** What the form starts with. */
export function queueFormValues(queue: Queue | undefined): QueueFormValues {
  if (queue === undefined) return newQueueValues;
  const { retry, maxAttempts, timeout, backoff } = queue;
  return {
    ...newQueueValues,
    name: queue.name,
    concurrency: queue.concurrency ?? '',
    retry,
    maxAttempts,
    timeout,
    ...backoffValues(backoff),
  };
}

function backoffValues(backoff: Backoff): Partial<QueueFormValues> {
  switch (backoff.kind) {
    case 'exponential':
      return { backoffKind: 'exponential', base: backoff.base, max: backoff.max };
    case 'list':
      return { backoffKind: 'list', delays: backoff.delays.join(', ') };
    case 'fixed':
      return { backoffKind: 'fixed', delays: backoff.delay };
  }
}

function backoffInput(values: QueueFormValues, before: Queue | undefined) {
  const delays = values.delays.split(',').map((delay) => delay.trim());
  switch (values.backoffKind) {
    case 'exponential': {
      const old = before?.backoff;
      // The form does not show these two, so that they must stay as they were.
      const kept = old?.kind === 'exponential' ? { factor: old.factor, jitter: old.jitter } : {};
      return { kind: 'exponential', base: values.base, max: values.max, ...kept } as const;
    }
    case 'list':
      return { kind: 'list', delays } as const;
    case 'fixed':
      return { kind: 'fixed', delay: delays[0] ?? '' } as const;
  }
}

/** The settings as the API takes them. */
export function queueSettings(values: QueueFormValues, before: Queue | undefined): QueueSettings {
  return {
    concurrency: values.concurrency === '' ? null : Number(values.concurrency),
    retry: values.retry,
    maxAttempts: Number(values.maxAttempts),
    timeout: values.timeout,
    backoff: backoffInput(values, before),
  };
}
