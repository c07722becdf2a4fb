import { controllerOf } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import { toRelease } from './handler.ts';
import type { JobContext, JobInfo, JobLog, Release } from './handler.ts';
import type { FencedTransactions } from './fenced-transactions.ts';
import { HandlerSteps } from './handler-steps.ts';
import type { StepStore } from './handler-steps.ts';
import { asText, safeJson, storableCut } from './safe-json.ts';

/** Where a context's reports go. */
export interface ContextSink {
  log(job: HeldJob, line: ContextLogLine): void;
  progress(job: HeldJob, progressJson: string): void;
}

/** One line of an execution's log, numbered from 1. */
export interface ContextLogLine {
  readonly line: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fieldsJson: string | undefined;
}

const maxLogLines = 1_000;
const maxLogBytes = 65_536;
const maxLineLength = 8_000;

/** What contexts work with. */
export interface ContextServices {
  readonly projectId: string;
  readonly sink: ContextSink;
  readonly transactions: FencedTransactions;
  readonly steps: StepStore;
}

/** The context of one execution. Costly parts are made when they are first asked for. */
export class HandlerContext implements JobContext {
  readonly attempt: number;
  readonly #job: HeldJob;
  readonly #services: ContextServices;
  #steps: HandlerSteps | undefined;
  #info: JobInfo | undefined;
  #log: JobLog | undefined;

  constructor(job: HeldJob, services: ContextServices) {
    this.#job = job;
    this.#services = services;
    this.attempt = job.claimed.attempt;
  }

  get signal(): AbortSignal {
    return controllerOf(this.#job).signal;
  }

  get job(): JobInfo {
    const { claimed, queueName } = this.#job;
    this.#info ??= {
      id: claimed.id,
      type: claimed.type,
      queue: queueName,
      projectId: this.#services.projectId,
      executionSeq: claimed.executionSeq,
      createdAt: new Date(claimed.createdAtMs),
      maxAttempts: claimed.maxAttempts,
      tags: claimed.tags,
      metadata: metadataOf(claimed.metadataJson),
      batchId: claimed.batchId,
      payloadVersion: claimed.payloadVersion,
    };
    return this.#info;
  }

  get log(): JobLog {
    const write =
      (level: ContextLogLine['level']) =>
      (message: string, fields?: Readonly<Record<string, unknown>>): void => {
        this.#writeLog(level, message, fields);
      };
    this.#log ??= {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    };
    return this.#log;
  }

  // What follows is bound, since handlers take their context apart.

  get progress(): (percent: number, note?: unknown) => void {
    return (percent, note) => {
      const bounded = Number.isFinite(percent) ? Math.min(100, Math.max(0, percent)) : 0;
      const text = note === undefined ? {} : { note: storableCut(asText(note), 500) };
      this.#services.sink.progress(this.#job, JSON.stringify({ percent: bounded, ...text }));
    };
  }

  release(delay: string | number, reason?: string): Release {
    return toRelease(delay, reason);
  }

  get transaction(): JobContext['transaction'] {
    return (run) => {
      // What the opener gives is what the handler was written for.
      const work = run as (tx: unknown) => ReturnType<typeof run>;
      return this.#services.transactions.run(this.#job, work);
    };
  }

  get assertLease(): JobContext['assertLease'] {
    return (tx) => this.#services.transactions.assertLease(this.#job, tx);
  }

  get step(): JobContext['step'] {
    return (name, run) => {
      this.#steps ??= new HandlerSteps(this.#job, this.#services.steps, this.log);
      return this.#steps.run(name, run);
    };
  }

  #writeLog(
    level: ContextLogLine['level'],
    message: unknown,
    fields: Readonly<Record<string, unknown>> | undefined,
  ): void {
    const job = this.#job;
    if (job.logLines >= maxLogLines || job.logBytes >= maxLogBytes) return;
    const text = storableCut(asText(message), maxLineLength);
    const { json } = safeJson(fields, maxLineLength);
    job.logBytes += text.length + (json?.length ?? 0);
    job.logLines += 1;
    const isLast = job.logLines === maxLogLines || job.logBytes >= maxLogBytes;
    this.#services.sink.log(job, {
      line: job.logLines,
      level,
      message: isLast
        ? `${text} [the log of this execution is full; later lines are dropped]`
        : text,
      fieldsJson: json,
    });
  }
}

/** Whoever enqueues it gives an object. */
function metadataOf(json: string | null): JobInfo['metadata'] {
  return json === null ? undefined : (JSON.parse(json) as JobInfo['metadata']);
}
