/** Handlers that tests run in threads. */
import { parentPort, threadId } from 'node:worker_threads';

class NonRetryableError extends Error {
  name = 'NonRetryableError';
}

const never = new Promise(() => undefined);

/** A thread that starts slowly comes to its handler after the timeout. */
async function untilAborted(signal) {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

function spin() {
  for (;;);
}

/** Deeper than the main thread's stack can read, which is smaller than that of threads. */
function tooDeep() {
  let value = 1;
  for (let depth = 0; depth < 8_000; depth += 1) value = [value];
  return value;
}

export const handlers = {
  plain: (payload, context) => ({ payload, job: context.job, attempt: context.attempt, threadId }),
  busy({ forMs }) {
    const end = performance.now() + forMs;
    while (performance.now() < end);
    return 'done';
  },
  spin,
  async reports(_payload, { log, progress }) {
    log.info('with fields', { list: [1, 2n] });
    log.warn('a\u0000b');
    for (let percent = 0; percent <= 100; percent += 1) progress(percent, `at ${percent}`);
  },
  floods(_payload, { log, progress }) {
    for (let line = 0; line < 20_000; line += 1) {
      log.info('x'.repeat(10));
      progress(line % 100);
    }
  },
  async until_aborted(_payload, { signal }) {
    await untilAborted(signal);
    return { code: signal.reason.code, name: signal.reason.name };
  },
  releases: (_payload, context) =>
    context.attempt > 0 && context.job.executionSeq === 1
      ? context.release(1, 'not yet')
      : 'released before',
  throws_coded() {
    throw Object.assign(new RangeError('no disk'), { code: 'ENOSPC' });
  },
  throws_final() {
    throw new NonRetryableError('never again');
  },
  throws_nothing() {
    throw undefined;
  },
  throws_in_timer() {
    setTimeout(() => {
      throw new Error('in a timer');
    }, 1);
    return never;
  },
  rejects_unhandled() {
    void Promise.reject(new Error('nobody listens'));
    return never;
  },
  exits() {
    process.exit(3);
  },
  eats_memory() {
    const eaten = [];
    for (;;) eaten.push(new Array(100_000).fill(Math.random()));
  },
  async eats_memory_when_aborted(_payload, { signal }) {
    await untilAborted(signal);
    handlers.eats_memory();
  },
  posts(_payload, { log }) {
    const forged = [
      ...[null, undefined, 7, 'text', [], {}, { kind: 'unknown', runId: 1 }],
      { kind: 'log', runId: 1, level: 'constructor' },
      { kind: 'completed', runId: 1, json: '{' },
    ];
    for (const message of forged) parentPort.postMessage(message);
    for (let runId = 0; runId < 100; runId += 1) {
      parentPort.postMessage({ kind: 'completed', runId, json: '"forged"' });
    }
    parentPort.postMessage(tooDeep());
    log.info('posted');
    return 'its own result';
  },
  closes_port(_payload, { call }) {
    parentPort.close();
    return call('add', 1, 2);
  },
  calls_too_deep: (_payload, { call }) => call('add', tooDeep()),
  holds_memory({ megabytes }) {
    const held = Array.from({ length: megabytes }, () => new Array(131_072).fill(Math.random()));
    if (held.length > 0) spin();
  },
  returns_map: () => new Map([['key', 'value']]),
  returns_nothing: () => undefined,
  returns_bigint: () => ({ n: 12345678901234567890n }),
  async steps(_payload, { attempt, step }) {
    const first = await step('first', () => ({ thread: threadId, at: new Date(0) }));
    if (attempt === 1) throw new Error('after the first step');
    return { first, second: await step('second', () => undefined) };
  },
  transacts: (_payload, context) => context.transaction(async () => 1),
  calls: async (_payload, context) => ({
    sum: await context.call('add', 1, 2),
    refused: await context.call('unknown').catch((error) => error.message),
    failed: await context.call('fail').catch((error) => error.code),
  }),
};

export const definitions = [
  {
    type: 'defined',
    greeting: 'hello',
    run(payload) {
      return [this.greeting, payload];
    },
  },
  { type: 'adapted', run: (payload) => payload },
];

export const named = () => 'by its export';
