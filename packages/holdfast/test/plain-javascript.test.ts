import { createWorker, defineJob, Holdfast, OptionsInvalidError } from 'holdfast';
import { expect, it } from 'vitest';

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
])('plain JavaScript hears what is wrong with %s', (_name, call, problem) => {
  expect(call).toThrow(OptionsInvalidError);
  expect(call).toThrow(problem);
});
