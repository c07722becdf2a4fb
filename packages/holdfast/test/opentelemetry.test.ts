import { context, diag, DiagLogLevel, propagation, trace } from '@opentelemetry/api';
import type { ContextManager, TextMapPropagator, Tracer } from '@opentelemetry/api';
import { defineJob } from 'holdfast';
import { traceEnqueue, traceRun } from 'holdfast/opentelemetry';
import type { TracedRun } from 'holdfast/opentelemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

describe('the middleware', () => {
  it('refuses options that do not exist', () => {
    expect(() => traceRun({ relation: 'child' as 'link' })).toThrow(/relation must be one of/);
    expect(() => traceEnqueue({ spanName: 'queue' } as object)).toThrow(/spanNames/);
  });
});

const broken = (): never => {
  throw new Error('broken');
};
const brokenPropagator: TextMapPropagator = { inject: broken, extract: broken, fields: () => [] };
const brokenTracer = { startSpan: broken, startActiveSpan: broken } as unknown as Tracer;
/** Its `with` may have called the function before it throws. */
const brokenManager = (hasCalled: boolean): ContextManager => {
  const manager: ContextManager = {
    active: broken,
    with: (_context, run, thisArg, ...args) => {
      if (hasCalled) void Reflect.apply(run, thisArg, args);
      return broken();
    },
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
};

const everySpan = [
  ...['isRecording', 'setAttribute', 'setAttributes', 'recordException', 'setStatus', 'end'],
  'spanContext',
];
const brokenSpan = Object.fromEntries(everySpan.map((name) => [name, broken]));

const breakages: readonly (readonly [string, () => void])[] = [
  ['propagator', () => void propagation.setGlobalPropagator(brokenPropagator)],
  ['tracer', () => void trace.setGlobalTracerProvider({ getTracer: () => brokenTracer })],
  ['provider', () => void trace.setGlobalTracerProvider({ getTracer: broken })],
  [
    'span',
    () => {
      const tracer = { startSpan: () => brokenSpan } as unknown as Tracer;
      trace.setGlobalTracerProvider({ getTracer: () => tracer });
    },
  ],
  ['context manager', () => void context.setGlobalContextManager(brokenManager(false))],
  ['late context manager', () => void context.setGlobalContextManager(brokenManager(true))],
];

describe.each(breakages)('a broken %s', (_name, breakIt) => {
  let told: unknown[] = [];
  beforeEach(() => {
    told = [];
    const silent = () => undefined;
    const error = (...args: readonly unknown[]) => void told.push(args);
    const logger = { error, warn: silent, info: silent, debug: silent, verbose: silent };
    diag.setLogger(logger, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
    breakIt();
  });
  afterEach(() => {
    propagation.disable();
    trace.disable();
    context.disable();
    diag.disable();
  });

  const results = [{ id: '1', status: 'queued', deduplicated: false }] as const;
  const drafts = [
    { type: 'any', payload: {}, options: { id: '1' }, job: defineJob({ type: 'any' }) },
  ];

  it('leaves an enqueue as it is without traces, and the application is told', async () => {
    let calls = 0;
    const send = traceEnqueue();
    const answer = send(drafts, (left) => {
      calls += 1;
      expect(left).toEqual(drafts);
      return Promise.resolve(results);
    });
    expect(await answer).toBe(results);
    expect(calls).toBe(1);
    expect(told.join()).toContain('OpenTelemetry failed,Error: broken');
    const refusal = new Error('refused');
    await expect(send(drafts, () => Promise.reject(refusal))).rejects.toBe(refusal);
  });

  it('leaves a run as it is without traces, and the application is told', async () => {
    for (const relation of ['link', 'parent'] as const) {
      let calls = 0;
      const run = traceRun({ relation });
      const traced = tracedRun();
      const answer = run(traced, () => {
        calls += 1;
        return Promise.resolve('done');
      });
      expect(await answer).toBe('done');
      expect(calls).toBe(1);
      expect(traced.ctx.job.metadata).toEqual({ own: 1 });
      expect(told.join()).toContain('OpenTelemetry failed,Error: broken');
      const failure = new Error('failed');
      await expect(run(tracedRun(), () => Promise.reject(failure))).rejects.toBe(failure);
    }
  });
});

function tracedRun(): TracedRun {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const job = {
    ...{ id: '1', type: 'any', queue: 'default', projectId: '1', executionSeq: 1, tags: [] },
    ...{ createdAt: new Date(0), maxAttempts: 5, batchId: undefined, payloadVersion: 1 },
    metadata: { own: 1, 'holdfast.trace': { traceparent } },
  };
  return { ctx: { job, attempt: 1, signal: new AbortController().signal } };
}
