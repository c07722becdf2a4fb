import { EventPosition, routes } from '@holdfast/contract';
import type { RouteName } from '@holdfast/contract';
import {
  emitEvents,
  listEvents,
  listNewestPositions,
  resolveListenerQueues,
  wakeForJobs,
} from '@holdfast/database';
import type { Emitted } from '@holdfast/database';
import { isLifeCycleEvent, uuidV7 } from '@holdfast/domain';
import type { Request, Response } from 'express';
import type { Dependencies } from '../dependencies.ts';
import { writeEventStream } from '../event-stream.ts';
import { authorise } from '../http/access.ts';
import type { Call, Handlers } from '../http/call.ts';
import { once } from '../http/idempotency.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { payloadJsonOf } from '../jobs-from-input.ts';
import { presentEvent } from '../presenters/event.ts';

type EventRoute = Extract<RouteName, 'listEvents' | 'streamEvents' | 'emitEvent'>;

/** What happened, read or emitted. */
export function eventHandlers(deps: Dependencies): Handlers<EventRoute> {
  const { database, notifier } = deps;
  return {
    async listEvents({ project, query }) {
      const { events, nextAfter } = await listEvents(database, {
        projectId: project.id,
        after: query.after ?? '0',
        events: query.event,
        limit: query.limit,
      });
      return { body: { data: events.map(presentEvent), nextAfter } };
    },

    async streamEvents(call) {
      const projectId = call.project.id;
      const after = lastEventIdOf(call.request) ?? call.query.after;
      const body = writeEventStream(deps, {
        projectId,
        after: after ?? (await newestPosition(deps, projectId)),
        events: call.query.event,
        signal: endOf(call.response, deps.eventWatch.stopped),
        isAllowed: () => isStillAllowed(deps, call),
      });
      return { headers: streamHeaders, body };
    },

    async emitEvent(call) {
      const { event, data } = call.body;
      if (isLifeCycleEvent(event)) {
        const errors = [{ pointer: '/event', detail: 'is announced by Holdfast alone' }];
        throw new HttpProblem('event_reserved', { errors });
      }
      const projectId = call.project.id;
      const dataJson = payloadJsonOf(data, '/data');
      const queues = await resolveListenerQueues(database, { projectId, events: [event] });
      const id = uuidV7(deps.clock.nowMs());
      let emitted: Emitted | undefined;
      const { status, headers, body } = await once(database, call, async (tx) => {
        const events = [{ id, event, dataJson }];
        emitted = await emitEvents(database, { projectId, events, queues, tx });
        const [written = null] = emitted.eventIds;
        return { status: 201, body: { id: written, event, jobIds: emitted.jobIds } };
      });
      if (emitted !== undefined) wakeForJobs(notifier, emitted);
      notifier.wakeDispatchers();
      return { status, headers: headers ?? {}, body };
    },
  };
}

const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

function lastEventIdOf(request: Request): string | undefined {
  const header = request.get('last-event-id');
  if (header === undefined || header === '') return undefined;
  if (EventPosition.safeParse(header).success) return header;
  throw validationFailed([
    { pointer: 'Last-Event-ID', detail: 'must be the position of an event' },
  ]);
}

async function newestPosition({ database }: Dependencies, projectId: string): Promise<string> {
  return (await listNewestPositions(database, [projectId])).get(projectId) ?? '0';
}

/** Aborts when the reader is gone or the process stops. */
function endOf(response: Response, stopped: AbortSignal): AbortSignal {
  const ended = new AbortController();
  const end = (): void => {
    stopped.removeEventListener('abort', end);
    ended.abort();
  };
  stopped.addEventListener('abort', end);
  response.once('close', end);
  if (stopped.aborted) end();
  return ended.signal;
}

/** Whether the credentials of the request are still good: the token has an end, and sessions and keys are revoked. */
async function isStillAllowed(deps: Dependencies, call: Call<'streamEvents'>): Promise<boolean> {
  const { access } = routes.streamEvents;
  const { headers } = call.request;
  try {
    await authorise(deps, access, { headers, project: call.project.slug });
    return true;
  } catch (error) {
    if (error instanceof HttpProblem) return false;
    throw error;
  }
}
