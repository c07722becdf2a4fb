import { setTimeout as delay } from 'node:timers/promises';
import { isOpen, recorded } from './ledger.mjs';

const askEveryMs = 10;
const cell = new Int32Array(new SharedArrayBuffer(4));

function resultOf(context) {
  return { executionSeq: context.job.executionSeq, workerPid: process.pid };
}

async function quick(_payload, context) {
  await new Promise((resolve) => setImmediate(resolve));
  return resultOf(context);
}

/** Runs until its gate opens or it is aborted. */
async function hold({ gate }, context) {
  while (!isOpen(gate)) {
    context.signal.throwIfAborted();
    await delay(askEveryMs);
  }
  return resultOf(context);
}

/** Runs until its gate opens, or the one of this execution's number, whatever its signal says. */
async function stubborn({ gate }, context) {
  const ownGate = `${gate} ${context.job.executionSeq}`;
  while (!isOpen(gate) && !isOpen(ownGate)) await delay(askEveryMs);
  return resultOf(context);
}

/** Keeps the event loop from turning until its gate opens. */
function block({ gate }, context) {
  while (!isOpen(gate)) Atomics.wait(cell, 0, 0, askEveryMs);
  return resultOf(context);
}

/** Ends a moment after its process was asked to stop. */
async function untilSigterm(_payload, context) {
  await new Promise((resolve) => process.once('SIGTERM', resolve));
  return resultOf(context);
}

/** Fails each time. */
async function doomed() {
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error('doomed');
}

/** Takes its process down, as a crash in native code would. */
async function poison() {
  process.kill(process.pid, 'SIGKILL');
  await new Promise(() => undefined);
}

export const handlers = {
  quick: recorded(quick),
  hold: recorded(hold),
  stubborn: recorded(stubborn),
  block: recorded(block),
  until_sigterm: recorded(untilSigterm),
  doomed: recorded(doomed),
  poison: recorded(poison),
};
