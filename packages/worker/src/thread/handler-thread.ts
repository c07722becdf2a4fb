import { AsyncLocalStorage } from 'node:async_hooks';
import { parentPort } from 'node:worker_threads';
import type { MessagePort } from 'node:worker_threads';
import { Release } from '../handler.ts';
import { isInstanceOf } from '../is-instance-of.ts';
import { safeJson } from '../safe-json.ts';
import { adaptHandler, findHandler } from './find-handler.ts';
import { importModule } from './import-module.ts';
import { ThreadContext } from './thread-context.ts';
import { toError, toThreadFailure } from './thread-failure.ts';
import type { HandlerAdapter } from './thread-handler.ts';
import type { FromThread, ThreadRun, ThreadStart, ToThread } from './thread-messages.ts';
import type { SendFromThread } from './thread-context.ts';

interface ActiveRun {
  readonly id: number;
  readonly type: string;
  readonly controller: AbortController;
  readonly context: ThreadContext;
}

/** Tells whose code threw an error that nobody caught. */
const current = new AsyncLocalStorage<ActiveRun>();
let active: ActiveRun | undefined;
let port: MessagePort | undefined;

function start(id: number, run: ThreadRun): void {
  const controller = new AbortController();
  const send: SendFromThread = (message) => {
    if (active?.id === id) post({ ...message, runId: id });
  };
  const context = new ThreadContext(run, { signal: controller.signal, send });
  const own: ActiveRun = { id, type: run.type, controller, context };
  active = own;
  void current.run(own, execute, own, run);
}

async function execute(own: ActiveRun, run: ThreadRun): Promise<void> {
  try {
    const handler = await loadHandler(run);
    const result = await handler(run.payload, own.context);
    own.context.sendProgress();
    end(own, endOfResult(own.id, result));
  } catch (error) {
    fail(own, { error, isStray: false });
  }
}

async function loadHandler(run: ThreadRun) {
  const found = findHandler(await importModule(run.module), run);
  if (run.adapter === undefined) return adaptHandler(found, run.type);
  // The interface of an adapter's module.
  const adapter = (await importModule(run.adapter)) as { readonly adaptHandler: HandlerAdapter };
  return adapter.adaptHandler(found, run.type);
}

function endOfResult(runId: number, result: unknown): FromThread {
  if (isInstanceOf(result, Release)) {
    return { kind: 'released', runId, delayMs: result.delayMs, reason: result.reason };
  }
  return { kind: 'completed', runId, json: safeJson(result).json };
}

function fail(
  own: ActiveRun,
  { error, isStray }: { readonly error: unknown; readonly isStray: boolean },
): void {
  const failure = toThreadFailure(error, own.type);
  const code = isStray && failure.code === 'handler_failed' ? 'uncaught_exception' : failure.code;
  end(own, { kind: 'failed', runId: own.id, failure: { ...failure, code }, isStray });
}

function end(own: ActiveRun, message: FromThread): void {
  if (active !== own) return;
  active = undefined;
  post(message);
}

function onStray(error: unknown): void {
  const own = current.getStore();
  // What an earlier handler left behind fails nobody; an error of nobody ends the thread as usual.
  if (own === undefined) throw error;
  if (own === active) fail(own, { error, isStray: true });
}

function post(message: FromThread): void {
  port?.postMessage(message);
}

process.on('uncaughtException', onStray);
process.on('unhandledRejection', onStray);
// Before any handler's code is here: nothing but this module has the port.
parentPort?.once('message', (first: ThreadStart) => {
  port = first.port;
  port.on('message', receive);
});

function receive(message: ToThread): void {
  switch (message.kind) {
    case 'run':
      start(message.runId, message.run);
      return;
    case 'abort':
      if (active?.id === message.runId) active.controller.abort(toError(message.reason));
      return;
    case 'run_step':
      if (active !== undefined) void current.run(active, runStep, active, message.callId);
      return;
    case 'answer':
      active?.context.answer(message.callId, message.answer);
  }
}

function runStep(own: ActiveRun, callId: number): Promise<void> {
  return own.context.runStep(callId);
}
