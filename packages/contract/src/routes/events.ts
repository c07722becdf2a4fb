import { z } from 'zod';
import { needs, projectBase, route } from '../route.ts';
import {
  EmittedEvent,
  EventInput,
  EventPage,
  EventStreamQuery,
  EventSubscription,
  EventSubscriptionInput,
  EventSubscriptionsQuery,
  EventsQuery,
} from '../schemas/events.ts';
import { page } from '../schemas/paging.ts';
import { Id } from '../schemas/values.ts';
import { ProjectParams } from './projects.ts';

const tag = 'Events';
const subscriptions = `${projectBase}/event-subscriptions` as const;

/** What happened, and who wants to hear of it. */
export const eventRoutes = {
  listEvents: route({
    method: 'get',
    path: `${projectBase}/events`,
    tag,
    summary:
      'Events that somebody subscribed to, in their order; none is ever put before one that was answered',
    access: needs('project.read'),
    params: ProjectParams,
    query: EventsQuery,
    statuses: [200],
    response: EventPage,
  }),
  streamEvents: route({
    method: 'get',
    path: `${projectBase}/events/stream`,
    tag,
    summary: 'The same as server-sent events: from now on, or behind `after` or `Last-Event-ID`',
    access: needs('project.read'),
    params: ProjectParams,
    query: EventStreamQuery,
    statuses: [200],
    response: z.string(),
    responseType: 'text/event-stream',
  }),
  emitEvent: route({
    method: 'post',
    path: `${projectBase}/events`,
    tag,
    summary: 'Emit an event of your own; the jobs of its listeners are enqueued with it',
    access: needs('job.enqueue'),
    params: ProjectParams,
    body: EventInput,
    statuses: [201],
    response: EmittedEvent,
    idempotent: true,
  }),
  listEventSubscriptions: route({
    method: 'get',
    path: subscriptions,
    tag,
    summary: 'Who subscribed to what, oldest first',
    access: needs('project.read'),
    params: ProjectParams,
    query: EventSubscriptionsQuery,
    statuses: [200],
    response: page(EventSubscription),
  }),
  subscribeEvent: route({
    method: 'post',
    path: subscriptions,
    tag,
    summary:
      'Subscribe to an event; the same event and job type again replaces the other settings of the job',
    access: needs('event.configure'),
    params: ProjectParams,
    body: EventSubscriptionInput,
    statuses: [201],
    response: EventSubscription,
    idempotent: true,
  }),
  unsubscribeEvent: route({
    method: 'delete',
    path: `${subscriptions}/{id}`,
    tag,
    summary: 'End a subscription; jobs that it has made stay',
    access: needs('event.configure'),
    params: ProjectParams.extend({ id: Id }),
    statuses: [204],
    response: undefined,
  }),
} as const;
