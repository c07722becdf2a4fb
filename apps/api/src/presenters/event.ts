import type { Event, EventSubscription } from '@holdfast/contract';
import type { EventSubscription as StoredSubscription, StoredEvent } from '@holdfast/database';
import { presentInstant } from './instant.ts';
import { presentTemplate } from './job-template.ts';

/** An event as answered. */
export function presentEvent(event: StoredEvent): Event {
  return {
    position: event.position,
    id: event.id,
    event: event.event,
    jobId: event.jobId ?? null,
    data: event.data,
    occurredAt: presentInstant(event.occurredAt),
  };
}

/** A subscription as answered. */
export function presentSubscription(subscription: StoredSubscription): EventSubscription {
  const { id, event, job, createdAt } = subscription;
  return {
    id,
    event,
    job: job === undefined ? null : presentTemplate(job),
    createdAt: presentInstant(createdAt),
  };
}
