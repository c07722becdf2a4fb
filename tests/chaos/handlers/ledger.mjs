/**
 * The handlers' own record of what ran: one file per process, one line per event, each written whole by O_APPEND, so
 * that it survives the SIGKILL of its writer.
 */
import { existsSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const ledger = openSync(join(process.env.CHAOS_LEDGER, `${process.pid}.jsonl`), 'a');

/** @param phase `start`, `end` (about to return) or `threw` (about to fail). */
export function note(phase, context) {
  const { id, type, executionSeq } = context.job;
  const line = {
    job: id,
    type,
    attempt: context.attempt,
    executionSeq,
    workerPid: process.pid,
    phase,
    // CLOCK_MONOTONIC: the same for all processes of the machine.
    atMs: Number(process.hrtime.bigint()) / 1e6,
  };
  writeSync(ledger, `${JSON.stringify(line)}\n`);
}

/** The handler, with its start and its end in the ledger. */
export function recorded(handler) {
  return async (payload, context) => {
    note('start', context);
    try {
      const result = await handler(payload, context);
      note('end', context);
      return result;
    } catch (error) {
      note('threw', context);
      throw error;
    }
  };
}

/** Whether the test has opened this gate, by making a file. */
export function isOpen(gate) {
  return existsSync(join(process.env.CHAOS_GATES, gate));
}
