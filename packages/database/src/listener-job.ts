import type { NewJob } from './enqueue.ts';
import type { ListenerTemplate } from './event-subscriptions.ts';
import { jobOfTemplate } from './job-template.ts';

/** An event as the payload of its listeners' jobs. */
export interface EventEnvelope {
  readonly event: string;
  readonly id: string;
  /** JSON text. */
  readonly dataJson: string;
  /** RFC 3339, in UTC. */
  readonly occurredAt: string;
  /** The job that the event is about, if it is about one. */
  readonly jobId?: string | undefined;
}

/** The job that a subscription asks for, with the event as payload: `{ event, id, data, occurredAt, jobId? }`. */
export function listenerJob(
  template: ListenerTemplate,
  envelope: EventEnvelope,
  jobId: string,
): NewJob {
  const { dataJson, ...rest } = envelope;
  const head = JSON.stringify(rest);
  return {
    ...jobOfTemplate({ ...template, payload: undefined }, jobId),
    payloadJson: `${head.slice(0, -1)},"data":${dataJson}}`,
    eventId: envelope.id,
  };
}
