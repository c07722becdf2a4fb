import type { MessagePort } from 'node:worker_threads';
import type { ContextLogLine } from '../job-context.ts';
import type { JobInfo } from '../handler.ts';

/** An error on its way to the other thread. */
export interface ThreadFailure {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
}

/** What a call gave: JSON, with nothing for `undefined`, or an error. */
export type ThreadAnswer =
  | { readonly ok: true; readonly json: string | undefined }
  | { readonly ok: false; readonly failure: ThreadFailure };

/** A run of a handler. */
export interface ThreadRun {
  readonly type: string;
  readonly module: string;
  readonly exportName: string | undefined;
  readonly adapter: string | undefined;
  readonly payload: unknown;
  readonly job: JobInfo;
  readonly attempt: number;
}

/** The first message to a thread, and the only one to its `parentPort`: where all others go. */
export interface ThreadStart {
  readonly port: MessagePort;
}

/** From the main thread to the one of the handler. */
export type ToThread =
  | { readonly kind: 'run'; readonly runId: number; readonly run: ThreadRun }
  | { readonly kind: 'abort'; readonly runId: number; readonly reason: ThreadFailure }
  /** The main thread has found that the step is to be run. */
  | { readonly kind: 'run_step'; readonly callId: number }
  | { readonly kind: 'answer'; readonly callId: number; readonly answer: ThreadAnswer };

/** From the handler's thread; all but the last two belong to the run under way. */
export type FromThread =
  | {
      readonly kind: 'log';
      readonly runId: number;
      readonly level: ContextLogLine['level'];
      readonly message: string;
      readonly fieldsJson: string | undefined;
    }
  | {
      readonly kind: 'progress';
      readonly runId: number;
      readonly percent: number;
      readonly note: string | undefined;
    }
  | {
      readonly kind: 'call';
      readonly runId: number;
      readonly callId: number;
      readonly name: string;
      readonly args: readonly unknown[];
    }
  | {
      readonly kind: 'step';
      readonly runId: number;
      readonly callId: number;
      readonly name: string;
    }
  | {
      readonly kind: 'step_ran';
      readonly runId: number;
      readonly callId: number;
      readonly answer: ThreadAnswer;
    }
  | {
      readonly kind: 'released';
      readonly runId: number;
      readonly delayMs: number;
      readonly reason: string | undefined;
    }
  /** `isStray`: nobody caught the error, and the handler may still run. */
  | {
      readonly kind: 'failed';
      readonly runId: number;
      readonly failure: ThreadFailure;
      readonly isStray: boolean;
    }
  | { readonly kind: 'completed'; readonly runId: number; readonly json: string | undefined };
