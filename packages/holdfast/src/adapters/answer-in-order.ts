import { setImmediate } from 'node:timers/promises';
import { HoldfastError } from '@holdfast/domain';

const firstLookMs = 250;
const longestPauseMs = 30_000;

/**
 * Waits for the answer of a statement, for a library that keeps a statement for ever when its transaction ends while the
 * statement waits its turn, as postgres.js does. Inside a transaction answers come in the order of the statements. So one
 * that was sent later and is answered first shows that the other will never be: asked for at doubling pauses, and only when
 * an answer is slow.
 *
 * @param library its name, for the error
 * @param answer of the statement
 * @param ask sends another statement in the same transaction
 * @throws HoldfastError `transaction_ended`; whatever the answer rejects with
 */
export function answerInOrder<Answer>(
  library: string,
  answer: Promise<Answer>,
  ask: () => Promise<unknown>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const lookIn = (pauseMs: number): void => {
      timer = setTimeout(() => {
        lookIn(Math.min(2 * pauseMs, longestPauseMs));
        void refuseWhenOvertaken();
      }, pauseMs);
    };
    const refuseWhenOvertaken = async (): Promise<void> => {
      // Also an error is an answer.
      await ask().catch(() => undefined);
      // Both answers may have come in one packet.
      await setImmediate();
      clearTimeout(timer);
      reject(transactionEnded(library));
    };
    lookIn(firstLookMs);
    answer.then(resolve, reject).finally(() => {
      clearTimeout(timer);
    });
  });
}

function transactionEnded(library: string): HoldfastError {
  const message =
    `The transaction of ${library} ended before this call: await each call before the transaction ends. ` +
    'The statement that waited was not run';
  return new HoldfastError(message, { code: 'transaction_ended' });
}
