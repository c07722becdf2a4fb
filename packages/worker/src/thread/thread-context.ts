import { HoldfastError } from '@holdfast/domain';
import { toRelease } from '../handler.ts';
import type { ContextLogLine } from '../job-context.ts';
import type { JobInfo, JobLog, Release } from '../handler.ts';
import { asText, safeJson, storableCut } from '../safe-json.ts';
import type { Stored } from '../stored.ts';
import { answerOf, toError } from './thread-failure.ts';
import type { ThreadJobContext } from './thread-handler.ts';
import type { FromThread, ThreadAnswer, ThreadRun } from './thread-messages.ts';

/** The main thread keeps as many lines; more would only fill its memory. */
const maxLogLines = 1_000;
const maxTextLength = 8_000;
/** A busy handler reports its progress in a loop; between two reports that are sent pass this many milliseconds. */
const progressEveryMs = 50;

type Unsent<Message> = Message extends unknown ? Omit<Message, 'runId'> : never;

/** Sends a message about the run. */
export type SendFromThread = (message: Unsent<FromThread>) => void;

/** The context of a handler in its thread: everything goes through the main thread. */
export class ThreadContext implements ThreadJobContext {
  readonly job: JobInfo;
  readonly attempt: number;
  readonly signal: AbortSignal;
  readonly log: JobLog;
  readonly #send: SendFromThread;
  readonly #calls = new Map<number, (answer: ThreadAnswer) => void>();
  readonly #steps = new Map<number, () => unknown>();
  #lastCallId = 0;
  #logLines = 0;
  #progress: { readonly percent: number; readonly note: string | undefined } | undefined;
  #progressSentAtMs = -Infinity;
  #progressTimer: NodeJS.Timeout | undefined;

  constructor(
    run: ThreadRun,
    options: { readonly signal: AbortSignal; readonly send: SendFromThread },
  ) {
    this.job = run.job;
    this.attempt = run.attempt;
    this.signal = options.signal;
    this.#send = options.send;
    const write = (level: ContextLogLine['level']) => (message: unknown, fields?: unknown) => {
      this.#writeLog(level, message, fields);
    };
    this.log = {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    };
  }

  // What follows is bound, since handlers take their context apart.

  readonly progress = (percent: number, note?: unknown): void => {
    const text = note === undefined ? undefined : storableCut(asText(note), 500);
    this.#progress = { percent, note: text };
    if (performance.now() - this.#progressSentAtMs >= progressEveryMs) this.sendProgress();
    else this.#progressTimer ??= setTimeout(() => this.sendProgress(), progressEveryMs).unref();
  };

  /** Sends what was reported last, unless it was sent. */
  sendProgress(): void {
    clearTimeout(this.#progressTimer);
    this.#progressTimer = undefined;
    if (this.#progress === undefined) return;
    this.#progressSentAtMs = performance.now();
    this.#send({ kind: 'progress', ...this.#progress });
    this.#progress = undefined;
  }

  release(delay: string | number, reason?: string): Release {
    return toRelease(delay, reason);
  }

  transaction(): Promise<never> {
    return Promise.reject(notInThread('transaction'));
  }

  assertLease(): Promise<never> {
    return Promise.reject(notInThread('assertLease'));
  }

  readonly step = async <Result>(
    name: string,
    run: () => Result | Promise<Result>,
  ): Promise<Stored<Result>> => {
    const callId = this.#nextCallId();
    this.#steps.set(callId, run);
    try {
      // What the step gave, by way of JSON.
      return (await this.#ask(callId, { kind: 'step', callId, name })) as Stored<Result>;
    } finally {
      this.#steps.delete(callId);
    }
  };

  readonly call = (name: string, ...args: readonly unknown[]): Promise<unknown> => {
    const callId = this.#nextCallId();
    return this.#ask(callId, { kind: 'call', callId, name, args });
  };

  /** The main thread wants the step to be run. */
  async runStep(callId: number): Promise<void> {
    const run = this.#steps.get(callId);
    if (run === undefined) return;
    const answer = await answerOf(this.job.type, run);
    this.#send({ kind: 'step_ran', callId, answer });
  }

  /** The main thread has answered a call. */
  answer(callId: number, answer: ThreadAnswer): void {
    this.#calls.get(callId)?.(answer);
  }

  #nextCallId(): number {
    this.#lastCallId += 1;
    return this.#lastCallId;
  }

  async #ask(callId: number, message: Unsent<FromThread>): Promise<unknown> {
    const answer = await new Promise<ThreadAnswer>((resolve) => {
      this.#calls.set(callId, resolve);
      this.#send(message);
    });
    this.#calls.delete(callId);
    if (!answer.ok) throw toError(answer.failure);
    return answer.json === undefined ? undefined : JSON.parse(answer.json);
  }

  #writeLog(level: ContextLogLine['level'], message: unknown, fields: unknown): void {
    if (this.#logLines >= maxLogLines) return;
    this.#logLines += 1;
    this.#send({
      kind: 'log',
      level,
      message: storableCut(asText(message), maxTextLength),
      fieldsJson: safeJson(fields, maxTextLength).json,
    });
  }
}

function notInThread(what: string): HoldfastError {
  return new HoldfastError(`context.${what} is not there for handlers in threads`, {
    code: 'not_in_thread',
  });
}
