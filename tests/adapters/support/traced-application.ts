import { createWorker, defineJob, Holdfast } from 'holdfast';
import type { JobDefinition } from 'holdfast';
import { traceEnqueue, traceRun } from 'holdfast/opentelemetry';
import type { TraceRunOptions } from 'holdfast/opentelemetry';
import { baggageOf, inSpan, RecordedSpans } from './recorded-spans.ts';

/** A job that makes a span, and answers what it sees. */
export const greet = defineJob({
  type: 'greet',
  run: (_: { to: string }, { job }) =>
    inSpan('in the handler', () =>
      Promise.resolve({ tenant: baggageOf('tenant') ?? '', metadata: job.metadata ?? 'nothing' }),
    ),
});

/** An application that traces its jobs. */
export class TracedApplication {
  readonly spans = new RecordedSpans();
  readonly holdfast: Holdfast;

  constructor(connectionString: string) {
    this.holdfast = new Holdfast({ connectionString });
    this.holdfast.use(traceEnqueue());
  }

  /** Has a worker while the work goes on; it runs one job at a time. */
  async whileWorking<Result>(
    jobs: readonly JobDefinition[],
    work: () => Promise<Result>,
    options?: TraceRunOptions,
  ): Promise<Result> {
    const { holdfast } = this;
    const worker = createWorker({ holdfast, jobs, concurrency: 1 }).use(traceRun(options));
    await worker.start();
    try {
      return await work();
    } finally {
      await worker.stop();
    }
  }

  /** Ends it, and the tracing of the process. */
  async close(): Promise<void> {
    await this.holdfast.close();
    await this.spans.stop();
  }
}
