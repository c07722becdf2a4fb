import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import type { Attributes, Context } from '@opentelemetry/api';
import { OptionCheck } from '../check-options.ts';
import type { EnqueueMiddleware, EnqueueResult } from '../enqueue-result.ts';
import type { JobDraft } from '../job-draft.ts';
import { recordError } from './record-error.ts';
import { messaging, operationAttributes, own, spanNamings, tracerName } from './span-attributes.ts';
import type { SpanNaming } from './span-attributes.ts';
import { isStorable, putCarrier } from './trace-carrier.ts';
import type { TraceCarrier } from './trace-carrier.ts';
import { runWithin, withoutHarm } from './without-harm.ts';

/** How enqueues are traced. */
export interface TraceEnqueueOptions {
  /**
   * What follows `send` in the names of spans: the queue (default), as OpenTelemetry's conventions have it, or the job
   * type, which says more where most jobs go to one queue.
   */
  readonly spanNames?: SpanNaming | undefined;
}

/**
 * Traces enqueues with OpenTelemetry: `holdfast.use(traceEnqueue())`. Each call makes one span, however many jobs it has, and
 * its context travels with the jobs, baggage included, so that `traceRun` finds it.
 *
 * It is a middleware as any other, and so is `traceRun`: where the two stand among yours is seen and chosen, and a program
 * that only enqueues, or only works, uses one of them. The SDK of OpenTelemetry is yours to set up; without it, nothing
 * is traced or written. Where a propagator or tracer fails, the trace is left out and `diag` is told.
 *
 * @throws OptionsInvalidError
 * @since 0.1.0
 */
export function traceEnqueue(options: TraceEnqueueOptions = {}): EnqueueMiddleware {
  const check = new OptionCheck('traceEnqueue');
  if (!check.names(options, ['spanNames'])) check.done();
  const { spanNames = 'queue' } = options;
  check.oneOf('spanNames', spanNames, spanNamings);
  check.done();
  return async (jobs, next) => {
    if (jobs.length === 0) return next(jobs);
    const facts = factsOf(jobs);
    const span = withoutHarm(() =>
      trace.getTracer(tracerName).startSpan(nameOf(facts, spanNames), {
        kind: SpanKind.PRODUCER,
        attributes: attributesOf(facts, jobs),
      }),
    );
    const active = withoutHarm(() => {
      const around = context.active();
      return span === undefined ? around : trace.setSpan(around, span);
    });
    const traced = active && withoutHarm(() => putCarrier(jobs, carrierOf(active)));
    const send = async () => next(traced ?? jobs);
    try {
      const results = await (active === undefined ? send() : runWithin(active, send));
      if (jobs.length === 1) {
        withoutHarm(() => span?.setAttributes(attributesOfResult(results[0])));
      }
      return results;
    } catch (error) {
      withoutHarm(() => {
        recordError(span, error);
      });
      throw error;
    } finally {
      withoutHarm(() => span?.end());
    }
  };
}

/** What all jobs of a call have in common; `undefined` where they differ. */
interface SharedFacts {
  readonly queue: string | undefined;
  readonly type: string | undefined;
}

function factsOf(jobs: readonly JobDraft[]): SharedFacts {
  return { queue: onlyOne(jobs.map(queueOf)), type: onlyOne(jobs.map(({ type }) => type)) };
}

function queueOf({ options, job }: JobDraft): string {
  return options.queue ?? job?.defaults.queue ?? 'default';
}

function onlyOne(values: readonly string[]): string | undefined {
  const [first] = values;
  return values.every((value) => value === first) ? first : undefined;
}

function nameOf(facts: SharedFacts, spanNames: SpanNaming): string {
  const what = facts[spanNames];
  return what === undefined ? 'send' : `send ${what}`;
}

function attributesOf({ queue, type }: SharedFacts, jobs: readonly JobDraft[]): Attributes {
  const id = jobs.length === 1 ? jobs[0]?.options.id : undefined;
  return {
    ...operationAttributes('send'),
    ...(queue === undefined ? {} : { [messaging.destination]: queue }),
    ...(type === undefined ? {} : { [own.type]: type }),
    ...(id === undefined ? { [messaging.batchCount]: jobs.length } : { [messaging.messageId]: id }),
  };
}

function attributesOfResult(result: EnqueueResult | undefined): Attributes {
  if (result?.deduplicated !== true) return {};
  return { [messaging.messageId]: result.id, [own.deduplicated]: true };
}

/** What the propagator has to say of the context; nothing where none is set up. */
function carrierOf(active: Context): TraceCarrier {
  const fields = new Map<string, string>();
  propagation.inject(active, fields, {
    set: (carrier, name, value) => {
      // An enqueue is not to fail for what somebody put into the baggage.
      if (isStorable(name, value)) carrier.set(name, value);
    },
  });
  return Object.fromEntries(fields);
}
