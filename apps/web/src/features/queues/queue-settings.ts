import type { Queue } from '@holdfast/contract';
import type { QueueSettings } from '../../api/queues.ts';

/** The settings of a queue as the form has them: text and numbers, empty where there is none. */
export interface QueueFormValues {
  readonly name: string;
  /** Empty: no limit. */
  readonly concurrency: number | string;
  readonly policy: 'automatic' | 'manual';
  readonly maxAttempts: number | string;
  readonly timeout: string;
  readonly backoffKind: 'exponential' | 'list' | 'fixed';
  readonly base: string;
  readonly max: string;
  /** Delays, separated by commas. */
  readonly delays: string;
}

/** What the form starts with. */
export function queueFormValues(queue: Queue | undefined): QueueFormValues {
  const backoff = queue?.retry.backoff;
  return {
    name: queue?.name ?? '',
    concurrency: queue?.concurrency ?? '',
    policy: queue?.retry.policy ?? 'automatic',
    maxAttempts: queue?.retry.maxAttempts ?? 5,
    timeout: queue?.retry.timeout ?? '5m',
    backoffKind: backoff?.kind ?? 'exponential',
    base: backoff?.kind === 'exponential' ? backoff.base : '5s',
    max: backoff?.kind === 'exponential' ? backoff.max : '1h',
    delays:
      backoff?.kind === 'list'
        ? backoff.delays.join(', ')
        : backoff?.kind === 'fixed'
          ? backoff.delay
          : '10s, 1m, 5m',
  };
}

function backoffInput(values: QueueFormValues, before: Queue | undefined) {
  const delays = values.delays.split(',').map((delay) => delay.trim());
  switch (values.backoffKind) {
    case 'exponential': {
      const old = before?.retry.backoff;
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
    retry: {
      policy: values.policy,
      maxAttempts: Number(values.maxAttempts),
      timeout: values.timeout,
      backoff: backoffInput(values, before),
    },
  };
}
