import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob } from 'holdfast';

/** A comment gives editors the type of the payload; nothing has to be compiled for it. */
export const greet = defineJob({
  type: 'example.greet',
  /** @param {{ name: string }} payload */
  run: ({ name }, ctx) => {
    ctx.log.info('greeting', { name });
    return `Hello, ${name}!`;
  },
});

/** Takes its time, says how far it is, and stops when it is asked to. */
export const count = defineJob({
  type: 'example.count',
  timeout: '1m',
  maxAttempts: 3,
  backoff: '1s',
  /** @param {{ to: number }} payload */
  run: async ({ to }, { progress, signal }) => {
    for (let number = 1; number <= to; number += 1) {
      await sleep(100, undefined, { signal });
      await progress((100 * number) / to, `${number} of ${to}`);
    }
    return { countedTo: to };
  },
});
