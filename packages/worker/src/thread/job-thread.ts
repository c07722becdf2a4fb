import { AsyncResource } from 'node:async_hooks';
import { Worker } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';
import { HoldfastError } from '@holdfast/domain';
import { readProperty, toAttemptError } from '../attempt-error.ts';
import { currentJob } from '../executor.ts';
import { Release } from '../handler.ts';
import type { JobContext } from '../handler.ts';
import { answerOf, toError, toThreadFailure } from './thread-failure.ts';
import type { ThreadCalls } from './thread-handler.ts';
import type { FromThread, ThreadAnswer, ThreadRun } from './thread-messages.ts';
import { ThreadPort } from './thread-port.ts';

/** How a thread is made. */
export interface JobThreadOptions {
  readonly resourceLimits: ResourceLimits | undefined;
  readonly execArgv: readonly string[] | undefined;
  /** The thread has ended, by itself or not. */
  readonly onExit: (thread: JobThread) => void;
}

interface CurrentRun {
  readonly id: number;
  readonly type: string;
  readonly context: JobContext;
  readonly calls: ThreadCalls;
  /** Where it was begun: what it calls here is to find what goes with that, such as the span that is active. */
  readonly origin: AsyncResource;
  /** Steps that the thread was told to run. */
  readonly steps: Map<number, (answer: ThreadAnswer) => void>;
  /** Set once its signal is aborted: whatever the thread ends of then, this came first. */
  abortReason?: Error;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

// Node cannot run TypeScript in a thread, so the sources use the built thread too.
const threadUrl = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/thread/handler-thread.js' : './handler-thread.js',
  import.meta.url,
);

/** A thread that runs one handler after the other. */
export class JobThread {
  readonly #worker: Worker;
  readonly #port: ThreadPort;
  #run: CurrentRun | undefined;
  #lastRunId = 0;
  #ending: { readonly error: Error } | undefined;
  readonly #exited: Promise<void>;

  constructor(options: JobThreadOptions) {
    const { resourceLimits, execArgv, onExit } = options;
    // What happens in the thread's events belongs to no job.
    const [worker, port] = currentJob.run(undefined, () => {
      const made = new Worker(threadUrl, {
        ...(resourceLimits === undefined ? {} : { resourceLimits }),
        ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
      });
      return [made, this.#connect(made)] as const;
    });
    this.#worker = worker;
    this.#port = port;
    this.#worker.unref();
    this.#worker.on('error', (error: unknown) => {
      this.#ending ??= { error: errorOfThread(error) };
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#ending ??= { error: exitError(code) };
        this.#port.finish();
        this.#run?.reject(this.#run.abortReason ?? this.#ending.error);
        this.#run = undefined;
        onExit(this);
        resolve();
      });
    });
  }

  /** False once it has ended or is about to. */
  get isUsable(): boolean {
    return this.#ending === undefined;
  }

  /** Runs a handler; one at a time. Rejects also when the thread ends before the handler does. */
  run(run: ThreadRun, more: Pick<CurrentRun, 'context' | 'calls'>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ending !== undefined) {
        reject(this.#ending.error);
        return;
      }
      this.#lastRunId += 1;
      const id = this.#lastRunId;
      const origin = new AsyncResource('HoldfastThreadRun');
      this.#run = { id, type: run.type, origin, steps: new Map(), ...more, resolve, reject };
      this.#port.post({ kind: 'run', runId: id, run });
    });
  }

  /** Aborts the signal of the handler that runs. */
  abort(reason: Error): void {
    if (this.#run === undefined) return;
    this.#run.abortReason ??= reason;
    const { id, type } = this.#run;
    this.#port.post({ kind: 'abort', runId: id, reason: toThreadFailure(reason, type) });
  }

  /** Ends the thread whatever it does; the handler that runs fails by the error. */
  async terminate(error: Error): Promise<void> {
    this.#ending ??= { error };
    await this.#worker.terminate();
    await this.#exited;
  }

  #connect(worker: Worker): ThreadPort {
    return new ThreadPort(worker, {
      onMessage: (message) => {
        this.#receive(message);
      },
      // Nobody can say which call it was, and its answer would never come.
      onUnreadable: (error) => void this.terminate(unreadable(error)),
    });
  }

  #receive(message: FromThread): void {
    const run = this.#run;
    if (run?.id !== message.runId) return;
    switch (message.kind) {
      case 'log': {
        const { level, message: text, fieldsJson } = message;
        run.context.log[level](
          text,
          fieldsJson === undefined ? undefined : parseFields(fieldsJson),
        );
        return;
      }
      case 'progress':
        run.context.progress(message.percent, message.note);
        return;
      case 'call':
        void this.#answer(message.callId, run, () =>
          callOf(run, message.name)(run.context, ...message.args),
        );
        return;
      case 'step':
        void this.#answer(message.callId, run, () =>
          run.context.step(message.name, () => this.#runStep(message.callId, run)),
        );
        return;
      case 'step_ran':
        run.steps.get(message.callId)?.(message.answer);
        return;
      default:
        this.#end(run, message);
    }
  }

  #end(
    run: CurrentRun,
    end: Extract<FromThread, { kind: 'released' | 'failed' | 'completed' }>,
  ): void {
    this.#run = undefined;
    switch (end.kind) {
      case 'completed':
        run.resolve(end.json === undefined ? undefined : JSON.parse(end.json));
        return;
      case 'released':
        run.resolve(new Release(end.delayMs, end.reason));
        return;
      case 'failed':
        if (end.isStray) void this.terminate(toError(end.failure));
        run.reject(toError(end.failure));
    }
  }

  /** The thread runs the step and says what it gave. */
  async #runStep(callId: number, run: CurrentRun): Promise<unknown> {
    const answer = await new Promise<ThreadAnswer>((resolve) => {
      run.steps.set(callId, resolve);
      this.#port.post({ kind: 'run_step', callId });
    });
    run.steps.delete(callId);
    if (!answer.ok) throw toError(answer.failure);
    return answer.json === undefined ? undefined : JSON.parse(answer.json);
  }

  async #answer(callId: number, run: CurrentRun, call: () => unknown): Promise<void> {
    const answer = await run.origin.runInAsyncScope(answerOf, undefined, run.type, call);
    if (this.isUsable) this.#port.post({ kind: 'answer', callId, answer });
  }
}

function callOf(run: CurrentRun, name: string): ThreadCalls[string] {
  const call = Object.hasOwn(run.calls, name) ? run.calls[name] : undefined;
  if (call !== undefined) return call;
  throw new TypeError(`Handlers in threads cannot call "${name}"`);
}

function parseFields(json: string): Readonly<Record<string, unknown>> {
  // Made from an object by the thread's context.
  return JSON.parse(json) as Readonly<Record<string, unknown>>;
}

function errorOfThread(error: unknown): HoldfastError {
  if (readProperty(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY') {
    return new HoldfastError('The handler’s thread reached its memory limit', {
      code: 'thread_out_of_memory',
      cause: error,
    });
  }
  const { message, stack } = toAttemptError(error, '');
  const uncaught = new HoldfastError(message, { code: 'uncaught_exception', cause: error });
  return stack === undefined ? uncaught : Object.assign(uncaught, { stack });
}

function unreadable(error: unknown): HoldfastError {
  const { message } = toAttemptError(error, '');
  return new HoldfastError(`What the handler handed out of its thread cannot be read: ${message}`, {
    code: 'thread_message_unreadable',
    cause: error,
  });
}

function exitError(code: number): HoldfastError {
  return new HoldfastError(`The handler called process.exit(${String(code)})`, {
    code: 'handler_exited',
  });
}
