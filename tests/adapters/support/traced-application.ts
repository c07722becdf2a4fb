import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { createWorker, defineJob, Holdfast } from 'holdfast';
import type { JobDefinition } from 'holdfast';
import { traceEnqueue, traceRun } from 'holdfast/opentelemetry';
import type { TraceRunOptions } from 'holdfast/opentelemetry';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
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

/** A traced application for each test of the file, all of them on one database. */
export function useTracedApplication(): {
  readonly app: TracedApplication;
  readonly db: TestDatabase;
} {
  let app: TracedApplication | undefined;
  let database: TestDatabase | undefined;
  const db = (): TestDatabase => there(database);
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => {
    app = new TracedApplication(db().url);
  });
  afterEach(() => app?.close());
  afterAll(() => db().drop());
  return {
    get app() {
      return there(app);
    },
    get db() {
      return db();
    },
  };
}

function there<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Error('It is there while a test runs');
  return thing;
}
