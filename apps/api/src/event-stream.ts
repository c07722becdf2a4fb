import type { Event } from '@holdfast/contract';
import { isTransientError, listEvents } from '@holdfast/database';
import type { EventPage } from '@holdfast/database';
import type { Dependencies } from './dependencies.ts';
import type { ProjectWatch } from './event-watch.ts';
import { presentEvent } from './presenters/event.ts';

/** What a stream of events is made from. */
export interface EventStreamRequest {
  readonly projectId: string;
  /** The position behind which it begins. */
  readonly after: string;
  readonly events: readonly string[] | undefined;
  /** Aborts when the reader is gone or the process stops. */
  readonly signal: AbortSignal;
  /** Whether the reader may still read; asked at every heartbeat. */
  readonly isAllowed: () => Promise<boolean>;
}

/** After an error of the database. */
const pauseMs = 1_000;
const pageSize = 100;
/** How long a browser waits before it connects again. */
const hello = 'retry: 1000\n\n';

/**
 * Writes the events of a project as server-sent events, from a position on, until the signal aborts or the reader may read
 * no more. While the database is away only heartbeats come, and it goes on behind the last event that was sent.
 */
export async function* writeEventStream(
  deps: Dependencies,
  request: EventStreamRequest,
): AsyncGenerator<string, void, undefined> {
  const watch = deps.eventWatch.open(request.projectId);
  try {
    yield hello;
    yield* writeFrames(deps, request, watch);
  } catch (error) {
    // The reader comes again behind the last event that it got.
    deps.logger.error({ err: error }, 'event stream failed');
  } finally {
    watch.close();
  }
}

async function* writeFrames(
  deps: Dependencies,
  request: EventStreamRequest,
  watch: ProjectWatch,
): AsyncGenerator<string, void, undefined> {
  const { signal } = request;
  const { clock, eventHeartbeatMs: heartbeatMs } = deps;
  let { after } = request;
  let isBehind = true;
  let beatAtMs = clock.monotonicMs() + heartbeatMs;
  while (!signal.aborted) {
    const page: EventPage | undefined = isBehind ? await readPage(deps, request, after) : undefined;
    for (const event of page?.events ?? []) yield frameOf(presentEvent(event));
    after = page?.nextAfter ?? after;
    isBehind = page?.events.length === pageSize;
    if (!isBehind) isBehind = await waitForMore(deps, watch, { after, signal, untilMs: beatAtMs });
    if (clock.monotonicMs() < beatAtMs) continue;
    if (!(await mayGoOn(request))) return;
    // The position alone: what the filter left out need not be looked at again.
    yield `: heartbeat\nid: ${after}\n\n`;
    beatAtMs = clock.monotonicMs() + heartbeatMs;
  }
}

async function readPage(
  { database, logger, clock }: Dependencies,
  { projectId, events, signal }: EventStreamRequest,
  after: string,
): Promise<EventPage> {
  try {
    return await listEvents(database, { projectId, after, events, limit: pageSize });
  } catch (error) {
    if (!isTransientError(error)) throw error;
    logger.debug({ err: error }, 'event stream waits for the database');
    await clock.sleep(pauseMs, signal);
    return { events: [], nextAfter: after };
  }
}

/** Waits for an event or the heartbeat; answers whether there may be an event. */
async function waitForMore(
  { clock }: Dependencies,
  watch: ProjectWatch,
  wait: { readonly after: string; readonly signal: AbortSignal; readonly untilMs: number },
): Promise<boolean> {
  // A signal that has aborted before tells nobody again.
  if (wait.signal.aborted) return false;
  const done = new AbortController();
  const end = (): void => {
    done.abort();
  };
  wait.signal.addEventListener('abort', end);
  const changed = watch.changed(wait.after, done.signal).then(() => !done.signal.aborted);
  const beat = clock.sleep(wait.untilMs - clock.monotonicMs(), done.signal).then(() => false);
  const hasMore = await Promise.race([changed, beat]);
  end();
  wait.signal.removeEventListener('abort', end);
  return hasMore;
}

/** A database that is away must not end the stream. */
async function mayGoOn({ isAllowed }: EventStreamRequest): Promise<boolean> {
  try {
    return await isAllowed();
  } catch (error) {
    if (isTransientError(error)) return true;
    throw error;
  }
}

function frameOf(event: Event): string {
  const name = event.event.replaceAll(/[\r\n]/g, ' ');
  return `id: ${event.position}\nevent: ${name}\ndata: ${JSON.stringify(event)}\n\n`;
}
