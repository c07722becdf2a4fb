import { z } from 'zod';
import { pageQuery, queryInteger, repeatable } from './paging.ts';
import { JobTemplate, ScheduledJobInput } from './schedules.ts';
import { DelayInput, DurationText, Id, Instant, Json, Name } from './values.ts';

/** A place in the order in which the events of a project are told. It grows, and has gaps. */
export const EventPosition = z
  .string()
  .regex(/^\d{1,18}$/, 'must be the position of an event')
  .meta({ id: 'EventPosition', examples: ['1042'] });

/** Something that happened. */
export const Event = z
  .object({
    position: EventPosition,
    id: Id,
    event: z.string(),
    jobId: Id.nullable(),
    data: Json,
    occurredAt: Instant,
  })
  .meta({ id: 'Event' });

/** Something that happened. */
export type Event = z.infer<typeof Event>;

const filter = {
  after: EventPosition.optional().meta({ description: 'Only events behind this position.' }),
  event: repeatable(Name).optional().meta({ description: 'Only these events.' }),
};

/** `GET …/events` */
export const EventsQuery = z.strictObject({ ...filter, limit: queryInteger(1, 200).default(50) });

/** `GET …/events/stream` */
export const EventStreamQuery = z.strictObject(filter);

/** Events in their order. `nextAfter` is the `after` of the next page, also when there is nothing behind it yet. */
export const EventPage = z.object({ data: z.array(Event).readonly(), nextAfter: EventPosition });

/** `POST …/events`: an event of the application. */
export const EventInput = z.strictObject({ event: Name, data: Json.optional() });

/** What became of an emitted event. `id` is null where nobody subscribed: it was not written then. */
export const EmittedEvent = z.object({
  id: Id.nullable(),
  event: Name,
  jobIds: z.array(Id).readonly(),
});

/** What became of an emitted event. */
export type EmittedEvent = z.infer<typeof EmittedEvent>;

/** The job that is enqueued for each event. The event is its payload. */
export const ListenerJobInput = ScheduledJobInput.omit({ payload: true }).extend({
  delay: DelayInput.optional(),
});

/** `POST …/event-subscriptions`: without a job, the event is only written to be read. */
export const EventSubscriptionInput = z
  .strictObject({ event: Name, job: ListenerJobInput.optional() })
  .meta({ id: 'EventSubscriptionInput' });

/** Somebody's wish to hear of an event. */
export const EventSubscription = z
  .object({
    id: Id,
    event: z.string(),
    job: JobTemplate.extend({ delay: DurationText.optional() }).nullable(),
    createdAt: Instant,
  })
  .meta({ id: 'EventSubscription' });

/** Somebody's wish to hear of an event. */
export type EventSubscription = z.infer<typeof EventSubscription>;

/** `GET …/event-subscriptions` */
export const EventSubscriptionsQuery = z.strictObject(pageQuery);
