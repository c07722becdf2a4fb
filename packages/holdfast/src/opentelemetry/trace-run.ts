import {
  defaultTextMapGetter,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  trace,
} from '@opentelemetry/api';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import { Release } from '@holdfast/worker';
import { OptionCheck } from '../check-options.ts';
import type { JobContext } from '../job-context.ts';
import { recordError } from './record-error.ts';
import { messaging, operationAttributes, own, spanNamings, tracerName } from './span-attributes.ts';
import type { SpanNaming } from './span-attributes.ts';
import { takeCarrier } from './trace-carrier.ts';
import type { TraceCarrier } from './trace-carrier.ts';
import { runWithin, withoutHarm } from './without-harm.ts';

/** How runs are traced. */
export interface TraceRunOptions {
  /**
   * How the span of a run belongs to the one of its enqueue. `link` (default): it begins a trace of its own, with a link.
   * `parent`: it is a part of the enqueue's trace, however long after, and so is each further attempt.
   */
  readonly relation?: 'link' | 'parent' | undefined;
  /**
   * What follows `process` in the names of spans: the queue (default), as OpenTelemetry's conventions have it, or the job
   * type, which says more where most jobs go to one queue.
   */
  readonly spanNames?: SpanNaming | undefined;
}

/** What is needed of a run to trace it; every worker's middleware has that. */
export interface TracedRun {
  readonly ctx: Pick<JobContext, 'job' | 'attempt' | 'signal'>;
}

/**
 * Traces runs with OpenTelemetry: `worker.use(traceRun())`, before other middleware that is to be in the span. Each
 * execution makes one span, in which the handler and the libraries that it calls make theirs, and has the baggage of its
 * enqueue.
 *
 * By default spans are linked to the enqueue's, as the conventions have it where one call may send many messages: a trace
 * then ends when its request does, and what is sampled is decided anew. See `relation`.
 *
 * @throws OptionsInvalidError
 * @since 0.1.0
 */
export function traceRun(
  options: TraceRunOptions = {},
): (run: TracedRun, next: () => Promise<unknown>) => Promise<unknown> {
  const check = new OptionCheck('traceRun');
  if (!check.names(options, ['relation', 'spanNames'])) check.done();
  const { relation = 'link', spanNames = 'queue' } = options;
  check.oneOf('relation', relation, ['link', 'parent']);
  check.oneOf('spanNames', spanNames, spanNamings);
  check.done();
  return async ({ ctx }, next) => {
    const { job } = ctx;
    // Also of a job whose trace is left out: its handler does not see it.
    const carrier = takeCarrier(job);
    const origin = withoutHarm(() => originOf(carrier, relation));
    const { base, links } = origin ?? { base: ROOT_CONTEXT, links: [] };
    const span = withoutHarm(() =>
      trace
        .getTracer(tracerName)
        .startSpan(
          `process ${job[spanNames]}`,
          { kind: SpanKind.CONSUMER, attributes: attributesOf(ctx), links },
          base,
        ),
    );
    const active = span && withoutHarm(() => trace.setSpan(base, span));
    try {
      const result = await runWithin(active ?? base, async () => next());
      const outcome = isRelease(result) ? 'released' : 'completed';
      withoutHarm(() => span?.setAttribute(own.outcome, outcome));
      return result;
    } catch (error) {
      withoutHarm(() => {
        recordFailure(span, error, ctx);
      });
      throw error;
    } finally {
      withoutHarm(() => span?.end());
    }
  };
}

interface Origin {
  /** The context that the span begins in: not that of the worker's start, which belongs to no job. */
  readonly base: Context;
  readonly links: { readonly context: NonNullable<ReturnType<typeof trace.getSpanContext>> }[];
}

function originOf(
  carrier: TraceCarrier,
  relation: NonNullable<TraceRunOptions['relation']>,
): Origin {
  const sent = propagation.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter);
  if (relation === 'parent') return { base: sent, links: [] };
  const sender = trace.getSpanContext(sent);
  const isKnown = sender !== undefined && isSpanContextValid(sender);
  return { base: trace.deleteSpan(sent), links: isKnown ? [{ context: sender }] : [] };
}

function attributesOf({ job, attempt }: TracedRun['ctx']): Attributes {
  return {
    ...operationAttributes('process'),
    [messaging.destination]: job.queue,
    [messaging.messageId]: job.id,
    [own.type]: job.type,
    [own.attempt]: attempt,
    [own.maxAttempts]: job.maxAttempts,
    [own.executionSeq]: job.executionSeq,
    ...(job.batchId === undefined ? {} : { [own.batch]: job.batchId }),
  };
}

function isRelease(result: unknown): boolean {
  try {
    return result instanceof Release;
  } catch {
    // A proxy that throws when it is touched.
    return false;
  }
}

/** Aborts that are nobody's fault: a person, a deployment or a lost connection ended the run. */
const outcomesOfAborts = new Map([
  ['cancelled', 'cancelled'],
  ['shutdown', 'returned'],
  ['lease_lost', 'returned'],
]);

function recordFailure(span: Span | undefined, error: unknown, { signal }: TracedRun['ctx']): void {
  const code = signal.aborted ? codeOf(signal.reason) : undefined;
  const outcome = outcomesOfAborts.get(code ?? '');
  if (outcome !== undefined) {
    span?.setAttribute(own.outcome, outcome);
    return;
  }
  const isTimeout = code === 'timed_out';
  span?.setAttribute(own.outcome, isTimeout ? 'timed_out' : 'failed');
  recordError(span, error, isTimeout ? code : undefined);
}

function codeOf(reason: unknown): string | undefined {
  const hasCode = typeof reason === 'object' && reason !== null && 'code' in reason;
  return hasCode && typeof reason.code === 'string' ? reason.code : undefined;
}
