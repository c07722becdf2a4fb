import { createWorker, defineJob, Holdfast, OptionsInvalidError } from 'holdfast';
import { traceEnqueue, traceRun } from 'holdfast/opentelemetry';
import { fakeContext } from 'holdfast/testing';
import { describe, expect, it } from 'vitest';

const holdfast = new Holdfast({ connectionString: 'postgresql://localhost/nowhere' });
const job = defineJob({ type: 'any' });

/** What callers in plain JavaScript can do. */
function unchecked(call: (...args: never) => unknown) {
  return call as (...args: readonly unknown[]) => unknown;
}

const worker = () => createWorker({ holdfast });

it.each<[string, () => unknown, string]>([
  [
    'an event that does not exist',
    () => unchecked(holdfast.on.bind(holdfast))('Nope', () => undefined),
    'on: the event must be one of "JobQueued", ',
  ],
  [
    'a listener that is none',
    () => unchecked(holdfast.on.bind(holdfast))('JobFailed'),
    'on("JobFailed"): the listener must be a function',
  ],
  [
    'a listener of a worker that is none',
    () => {
      const own = worker();
      return unchecked(own.on.bind(own))('JobFailed', 5);
    },
    'on("JobFailed"): the listener must be a function',
  ],
  [
    'a middleware that is none',
    () => unchecked(holdfast.use.bind(holdfast))(5),
    'use: the middleware must be a function',
  ],
  [
    'a middleware of a worker that is none',
    () => {
      const own = worker();
      return unchecked(own.use.bind(own))(undefined);
    },
    'use: the middleware must be a function',
  ],
  [
    'a handler that is none',
    () => {
      const own = worker();
      return unchecked(own.handle.bind(own))(job, 5);
    },
    'handle("any"): the handler must be a function',
  ],
  [
    'a handler of what is no job',
    () => {
      const own = worker();
      return unchecked(own.handle.bind(own))(undefined, () => 1);
    },
    'handle: the job must be a definition made by defineJob, or the name of a type',
  ],
  ['no definition', () => unchecked(defineJob)(null), 'defineJob: the options must be an object'],
  ['no worker', () => unchecked(createWorker)(null), 'createWorker: the options must be an object'],
  [
    'a worker of nothing',
    () => unchecked(createWorker)({}),
    'createWorker: holdfast must be an instance of Holdfast',
  ],
  [
    'a retention that is a list',
    () => unchecked(createWorker)({ holdfast, retention: [] }),
    'createWorker: retention must be an object',
  ],
  [
    'a name of a definition that is a symbol',
    () => unchecked(defineJob)({ type: Symbol('any') }),
    'defineJob(Symbol(any)): type must be 1 to 128',
  ],
  [
    'options of a payload that are null',
    () => unchecked(job.with.bind(job))({}, null),
    'with("any"): the options must be an object',
  ],
  [
    'options of a job in a graph that are null',
    () => holdfast.graph((graph) => unchecked(graph.add.bind(graph))(job.with({}), null)),
    'graph().add, job 0: the options must be an object',
  ],
  [
    'options of a progress that are null',
    () => {
      const batch = holdfast.batch([job.with({})]);
      return unchecked(batch.progress.bind(batch))(job.with({}), null);
    },
    'batch().progress: the options must be an object',
  ],
  [
    'options of traces of enqueues that are null',
    () => unchecked(traceEnqueue)(null),
    'traceEnqueue: the options must be an object',
  ],
  [
    'options of traces of runs that are null',
    () => unchecked(traceRun)(null),
    'traceRun: the options must be an object',
  ],
  ...[null, 'nope', 'https://example.com/a.js', 5, {}].map(
    (module): [string, () => unknown, string] => [
      `${JSON.stringify(module)} as the module of a thread`,
      () => unchecked(defineJob)({ type: 'any', isolate: 'thread', module }),
      'defineJob("any"): module must be a URL, such as import.meta.url, or an absolute path',
    ],
  ),
])('plain JavaScript hears what is wrong with %s', (_name, call, problem) => {
  expect(call).toThrow(OptionsInvalidError);
  expect(call).toThrow(problem);
});

it.each([import.meta.url, new URL(import.meta.url), '/srv/app/jobs.js'])(
  'takes %s as the module of a thread',
  (module) => {
    expect(defineJob({ type: 'any', isolate: 'thread', module }).defaults.module).toBe(module);
  },
);

const { queues, schedules, batches } = holdfast;
const enqueue = unchecked(holdfast.enqueue.bind(holdfast));
const enqueueMany = unchecked(holdfast.enqueueMany.bind(holdfast));
const cancel = unchecked(holdfast.cancel.bind(holdfast));
const emit = unchecked(holdfast.emit.bind(holdfast));
const subscribe = unchecked(holdfast.subscribe.bind(holdfast));
const readEvents = unchecked(holdfast.readEvents.bind(holdfast));
const list = unchecked(holdfast.list.bind(holdfast));
const upsertQueue = unchecked(queues.upsert.bind(queues));
const pauseQueue = unchecked(queues.pause.bind(queues));
const upsertSchedule = unchecked(schedules.upsert.bind(schedules));
const pauseSchedule = unchecked(schedules.pause.bind(schedules));
const id = '01920000-0000-7000-8000-000000000001';
const noObject = 'the options must be an object';

describe('a call in plain JavaScript is refused before anything is sent to the database', () => {
  it.each<[string, () => unknown, string]>([
    ['enqueue, null', () => enqueue(job, {}, null), noObject],
    ['enqueueMany, null', () => enqueueMany(job, [1], null), noObject],
    ['cancel, null', () => cancel(id, null), noObject],
    ['emit, null', () => emit('a', {}, null), noObject],
    ['subscribe, null', () => subscribe('a', job, null), noObject],
    ['readEvents, null', () => readEvents(null), noObject],
    ['list, null', () => list(null), noObject],
    ['batches.list, null', () => unchecked(batches.list.bind(batches))(null), noObject],
    ['batches.cancel, null', () => unchecked(batches.cancel.bind(batches))(id, null), noObject],
    ['queues.upsert, null', () => upsertQueue('a', null), noObject],
    ['queues.pause, null', () => pauseQueue('a', null), noObject],
    ['schedules.upsert, null', () => upsertSchedule(null), noObject],
    ['schedules.pause, null', () => pauseSchedule('a', null), noObject],
    ['a schedule of nothing', () => upsertSchedule({}), 'the name must be 1 to 128'],
    ['a schedule without a job', () => upsertSchedule({ name: 'a', every: '1h' }), 'job must be a'],
    ['a cron of numbers', () => upsertSchedule({ name: 'a', cron: 5 }), 'cron must be a text'],
    [
      'a time zone that is none',
      () => upsertSchedule({ name: 'a', every: '1h', job: job.with({}), timezone: 5 }),
      'timezone must be a text',
    ],
    [
      'ctx.transaction, null',
      () => unchecked(fakeContext().transaction)(null),
      'ctx.transaction: the argument must be a function',
    ],
    [
      'ctx.assertLease, null',
      () => unchecked(fakeContext().assertLease)(null),
      'ctx.assertLease: tx must be a transaction',
    ],
    ['events that are no list', () => readEvents({ events: 'a' }), 'events must be an array of'],
    ['a position that is a number', () => readEvents({ after: 5 }), 'after must be the position'],
    [
      'a status that was not set',
      () => list({ status: [undefined] }),
      'status must not have undefined among',
    ],
    ['a unique key of null', () => enqueue(job, {}, { unique: null }), 'unique must be an object'],
    ['a unique key of 5', () => enqueue(job, {}, { unique: 5 }), 'unique must be an object'],
    [
      'metadata that become a text',
      () => enqueue(job, {}, { metadata: { toJSON: () => 'x' } }),
      'metadata must be an object',
    ],
    [
      'metadata that become a list',
      () => enqueue(job, {}, { metadata: { toJSON: () => [] } }),
      'metadata must be an object',
    ],
  ])('%s', async (_name, call, problem) => {
    await expect(call()).rejects.toThrow(OptionsInvalidError);
    await expect(call()).rejects.toThrow(problem);
  });

  it.each([null, undefined, 5, {}, 'text'])(
    '%s instead of a list of payloads',
    async (payloads) => {
      const call = enqueueMany(job, payloads);
      await expect(call).rejects.toThrow(OptionsInvalidError);
      await expect(call).rejects.toThrow('enqueueMany: the payloads must be an array, an iterator');
    },
  );
});

describe('a name that is none', () => {
  const names: readonly unknown[] = [Symbol('a'), Object.create(null), null, 5, 'a\0b', ''];
  const calls: Readonly<Record<string, (name: unknown) => unknown>> = {
    emit: (name) => emit(name, {}),
    subscribe: (name) => subscribe(name, job),
    'queues.upsert': upsertQueue,
    'queues.pause': pauseQueue,
    'queues.resume': unchecked(queues.resume.bind(queues)),
    'queues.get': unchecked(queues.get.bind(queues)),
    'schedules.upsert': (name) => upsertSchedule({ name, every: '1h', job: job.with({}) }),
    'schedules.pause': pauseSchedule,
    'schedules.resume': unchecked(schedules.resume.bind(schedules)),
    'schedules.delete': unchecked(schedules.delete.bind(schedules)),
    'schedules.runNow': unchecked(schedules.runNow.bind(schedules)),
    'schedules.get': unchecked(schedules.get.bind(schedules)),
  };

  it.each(Object.entries(calls))('is refused by %s', async (_call, call) => {
    for (const name of names) {
      await expect(call(name)).rejects.toThrow(OptionsInvalidError);
      await expect(call(name)).rejects.toThrow('must be 1 to 128 of the characters');
    }
  });
});

describe('a value that cannot be shown', () => {
  const throwing = (): never => {
    throw new Error('not to be read');
  };
  const traps = { get: throwing, getPrototypeOf: throwing, has: throwing, ownKeys: throwing };
  const values: readonly unknown[] = [
    Object.create(null),
    { toString: throwing },
    new Proxy({}, traps),
    deepArray(),
    Symbol('a'),
  ];
  const options = ['delay', 'priority', 'maxAttempts', 'timeout', 'retryUntil', 'maxExceptions'];

  it.each([...options, 'startDeadline', 'backoff', 'unique'])(
    'is refused as %s with the name of the option',
    async (name) => {
      for (const value of values) {
        const call = () => enqueue(job, {}, { [name]: value });
        await expect(call()).rejects.toThrow(OptionsInvalidError);
        await expect(call()).rejects.toThrow(name);
      }
    },
  );

  it('is refused as metadata', async () => {
    for (const metadata of [new Proxy({}, traps), deepArray(), Symbol('a')]) {
      const call = enqueue(job, {}, { metadata });
      await expect(call).rejects.toThrow(OptionsInvalidError);
      await expect(call).rejects.toThrow('metadata');
    }
  });

  it('is refused as a limit, and as a time of a retention', async () => {
    for (const value of values) {
      await expect(list({ limit: value })).rejects.toThrow('list: limit must be');
      expect(() => unchecked(createWorker)({ holdfast, retention: { history: value } })).toThrow(
        /^createWorker: retention.history must be/,
      );
    }
  });
});

/** Too deep for what calls itself at each level. */
function deepArray(): unknown {
  let value: unknown = [];
  for (let depth = 0; depth < 20_000; depth += 1) value = [value];
  return value;
}
