import {
  emitEvents,
  listEvents,
  refuseReservedEvent,
  subscribe,
  unsubscribe,
  wakeForJobs,
} from '@holdfast/database';
import type { EventPage, ListenerTemplate } from '@holdfast/database';
import { OptionsInvalidError, isName, isUuid, payloadJson, uuidV7 } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { OptionCheck } from './check-options.ts';
import type { Internals } from './internals.ts';
import type { JobDefinition } from './job-definition.ts';
import { requireJob } from './job-draft.ts';
import { mergeFields, readJobFields, refuseOwnVersion } from './job-fields.ts';
import type { JobOptions } from './job-options.ts';
import { templateSettingsOf, toTemplateInfo } from './job-template.ts';
import type { JobTemplateInfo } from './job-template.ts';
import { fieldsOfDefinition } from './read-job-defaults.ts';
import type { RegisteredTransaction } from './register.ts';
import { callWith } from './shown.ts';

/** Options of an emit. */
export interface EmitOptions<Tx = RegisteredTransaction> {
  /**
   * The caller's open transaction: event and listeners' jobs are there if and when it commits. Workers are not woken then,
   * and find the jobs within half a second.
   */
  readonly tx?: Tx | undefined;
}

/** What became of an emitted event. */
export interface EmitResult {
  /** `undefined`: nobody subscribed, and nothing was written. */
  readonly id: string | undefined;
  /** The jobs of its listeners. */
  readonly jobIds: readonly string[];
}

/** What may be said of the jobs of a subscription; what is not said comes from the definition, then from the queue. */
export type ListenerOptions = Omit<JobOptions, 'id' | 'runAt' | 'unique' | 'startDeadline'>;

/** A subscription to an event. */
export interface EventSubscription {
  readonly id: string;
  readonly event: string;
  /** The job that is made for each; `undefined`: the event is only written to be read. */
  readonly job: (JobTemplateInfo & { readonly delayMs: number | undefined }) | undefined;
  readonly createdAt: Date;
}

/** Where to read events. */
export interface ReadEventsOptions {
  /** Behind this position; default: from the oldest that is kept. */
  readonly after?: string | undefined;
  /** Only these events. */
  readonly events?: readonly string[] | undefined;
  /** 1 to 1 000; default 100. */
  readonly limit?: number | undefined;
}

/** What is emitted. */
export interface EmitRequest {
  readonly event: string;
  readonly data: unknown;
  readonly options: EmitOptions<unknown>;
}

/**
 * Checks an event before anything is written.
 *
 * @returns its data as JSON
 * @throws OptionsInvalidError, PayloadInvalidError, PayloadTooLargeError; HoldfastError `event_reserved`
 */
export function checkEmit({ event, data, options }: EmitRequest, limitBytes: number): string {
  const check = new OptionCheck(callWith('emit', event));
  check.names(options, ['tx']);
  check.name('the name of an event', event);
  check.done();
  refuseReservedEvent(event);
  return payloadJson(data, { type: event, limitBytes }).json;
}

/**
 * Emits an event. The same id makes a repeated call harmless.
 *
 * @throws OptionsInvalidError, PayloadInvalidError, PayloadTooLargeError, TransactionInvalidError; HoldfastError
 * `event_reserved`
 */
export async function emitEvent(
  { connection, writer }: Internals,
  request: EmitRequest,
): Promise<EmitResult> {
  const { event, options } = request;
  const dataJson = checkEmit(request, writer.limitBytes);
  const events = [{ id: uuidV7(systemClock.nowMs()), event, dataJson }];
  if (options.tx !== undefined) {
    const tx = writer.queryableOf(options.tx);
    return connection.use(async ({ database, projectId }) =>
      resultOf(await emitEvents(database, { projectId, events, tx })),
    );
  }
  return connection.useWithRetry(async ({ database, projectId, notifier }) => {
    const emitted = await emitEvents(database, { projectId, events });
    wakeForJobs(notifier, emitted);
    if (emitted.eventIds.length > 0) notifier.wakeDispatchers();
    return resultOf(emitted);
  });
}

function resultOf(emitted: {
  readonly eventIds: readonly string[];
  readonly jobIds: readonly string[];
}): EmitResult {
  return { id: emitted.eventIds[0], jobIds: emitted.jobIds };
}

/**
 * Subscribes to an event.
 *
 * @throws OptionsInvalidError
 */
export async function subscribeToEvent(
  { connection }: Internals,
  request: {
    readonly event: string;
    readonly job: JobDefinition | string | undefined;
    readonly options: ListenerOptions;
  },
): Promise<EventSubscription> {
  const { event } = request;
  const job = readListener(request);
  return connection.useWithRetry(async ({ database, projectId, notifier }) => {
    const { id, createdAt } = await subscribe(database, { projectId, event, job });
    notifier.wakeDispatchers();
    return { id, event, job: job && { ...toTemplateInfo(job), delayMs: job.delayMs }, createdAt };
  });
}

const listenerOptionNames = [
  ...['queue', 'delay', 'priority', 'tags', 'metadata', 'maxAttempts'],
  ...['timeout', 'backoff', 'retry', 'retryUntil', 'maxExceptions', 'payloadVersion'],
];

function readListener({
  event,
  job,
  options,
}: Parameters<typeof subscribeToEvent>[1]): ListenerTemplate | undefined {
  // Without this, a listener that is no job would only write the event.
  const call = callWith('subscribe', event);
  if (job !== undefined) requireJob(call, job);
  const type = typeof job === 'string' ? job : job?.type;
  const check = new OptionCheck(call);
  check.names(options, type === undefined ? [] : listenerOptionNames);
  check.name('the name of an event', event);
  if (type !== undefined) check.name('the type', type);
  refuseOwnVersion(check, options, job);
  const said = readJobFields(check, options);
  check.done();
  if (type === undefined) return undefined;
  const fields = typeof job === 'object' ? mergeFields(fieldsOfDefinition(job), said) : said;
  return {
    ...{ type, queue: fields.queue ?? 'default' },
    ...templateSettingsOf(fields),
    ...(fields.delayMs === undefined ? {} : { delayMs: fields.delayMs }),
  };
}

/** Ends a subscription; answers whether there was one. @throws OptionsInvalidError */
export async function endSubscription({ connection }: Internals, id: string): Promise<boolean> {
  if (typeof id !== 'string' || !isUuid(id)) {
    throw new OptionsInvalidError('unsubscribe', ['the id of a subscription is a UUID']);
  }
  return connection.useOnce(({ database, projectId }) => unsubscribe(database, { projectId, id }));
}

/**
 * Reads events in their order.
 *
 * @throws OptionsInvalidError
 */
export async function readEvents(
  { connection }: Internals,
  options: ReadEventsOptions,
): Promise<EventPage> {
  const check = new OptionCheck('readEvents');
  if (!check.names(options, ['after', 'events', 'limit'])) check.done();
  const { after = '0', events } = options;
  if (typeof after !== 'string' || !/^\d{1,18}$/.test(after)) {
    check.refuse('after must be the position of an event');
  }
  if (events !== undefined && !areNames(events)) check.refuse('events must be an array of names');
  const limit = check.whole('limit', options.limit, { min: 1, max: 1_000 }) ?? 100;
  check.done();
  return connection.useWithRetry(({ database, projectId }) =>
    listEvents(database, { projectId, after, events, limit }),
  );
}

function areNames(events: unknown): boolean {
  return (
    Array.isArray(events) &&
    events.every((event: unknown) => typeof event === 'string' && isName(event))
  );
}
