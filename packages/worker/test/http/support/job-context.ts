import type { JobContext, JobLog } from '../../../src/handler.ts';

/** What a test may decide about the attempt. */
export interface AttemptFacts {
  readonly jobId?: string;
  readonly attempt?: number;
  readonly executionSeq?: number;
  readonly signal?: AbortSignal;
  readonly log?: JobLog;
}

const ignore = () => undefined;
const unused = (): never => {
  throw new Error('http.request does not need this');
};
const silentLog: JobLog = { debug: ignore, info: ignore, warn: ignore, error: ignore };

/** The context of an attempt as the engine would hand it to a handler. */
export function makeJobContext(facts: AttemptFacts = {}): JobContext {
  return {
    job: {
      id: facts.jobId ?? '0197e1c8-0000-7000-8000-000000000001',
      type: 'http.request',
      queue: 'default',
      projectId: '0197e1c8-0000-7000-8000-0000000000ff',
      executionSeq: facts.executionSeq ?? 1,
      createdAt: new Date(0),
      maxAttempts: 5,
      tags: [],
      metadata: {},
      batchId: undefined,
      payloadVersion: 1,
    },
    attempt: facts.attempt ?? 1,
    signal: facts.signal ?? new AbortController().signal,
    log: facts.log ?? silentLog,
    progress: ignore,
    release: unused,
    transaction: unused,
    assertLease: unused,
    step: unused,
  };
}
