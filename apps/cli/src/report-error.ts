import { explainConnectionError } from '@holdfast/database';
import { HoldfastError } from '@holdfast/domain';
import { exitCodeOf } from '@holdfast/runtime';

/** Says on standard error what went wrong, in a line where that is enough, and gives the exit code for it. */
export function reportError(thrown: unknown): number {
  const error = explainConnectionError(thrown);
  process.stderr.write(`${sentenceOf(error)}\n`);
  return exitCodeOf(error);
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Errors with a code of ours speak to people; any other one is a fault, and its stack helps.
  const isExpected = error instanceof HoldfastError || 'code' in error;
  return isExpected ? error.message : (error.stack ?? error.message);
}
