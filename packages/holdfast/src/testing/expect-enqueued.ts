import { AssertionError } from 'node:assert';
import type { JobStatus } from '@holdfast/domain';
import type { Stored } from '@holdfast/worker';
import { OptionCheck } from '../check-options.ts';
import type { JobDefinition } from '../job-definition.ts';
import type { Duration } from '../job-options.ts';
import { differenceOf, shown } from './difference-of.ts';
import type { EnqueuedJob } from './enqueued-job.ts';

/** Parts of a value, at any depth; a matcher of the test runner may stand for any of them. */
export type PartOf<Value> = unknown extends Value
  ? unknown
  : Value extends Date | bigint | string | number | boolean | null | undefined
    ? Value
    : Value extends readonly (infer Item)[]
      ? readonly PartOf<Item>[]
      : { readonly [Key in keyof Value]?: PartOf<Value[Key]> };

/** What a payload has to be: some of its properties, or a function that says so. */
export type ExpectedPayload<Input> = PartOf<Input> | ((payload: Stored<Input>) => boolean);

/** What else has to be true of a job. What is not said may be anything. */
export interface EnqueueExpectation {
  /** How many such jobs there are; default: at least one. */
  readonly times?: number | undefined;
  readonly queue?: string | undefined;
  readonly status?: JobStatus | undefined;
  readonly priority?: number | undefined;
  /** All of these are among its tags. */
  readonly tags?: readonly string[] | undefined;
  /** Parts of its metadata. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** From its creation to when it is due, to the second; 0 for at once. */
  readonly delay?: Duration | undefined;
  readonly uniqueKey?: string | undefined;
}

/** What is looked for among jobs. */
export interface EnqueueSearch {
  readonly jobs: readonly EnqueuedJob[];
  readonly job: JobDefinition | string;
  /** `undefined`: any. */
  readonly payload: unknown;
  readonly options: EnqueueExpectation;
}

const names = [
  ...['times', 'queue', 'status', 'priority', 'tags', 'metadata', 'delay', 'uniqueKey'],
];
const toleranceMs = 1_000;
const listedJobs = 20;

/**
 * The jobs that are as expected.
 *
 * @throws AssertionError of Node when there is none, or another number than `times`: it lists what there is instead
 */
export function findExpected(search: EnqueueSearch): readonly EnqueuedJob[] {
  const { options, jobs } = search;
  const found = jobs.filter((job) => problemOf(search, job) === undefined);
  if (options.times === undefined ? found.length > 0 : found.length === options.times) return found;
  const wanted =
    options.times === undefined ? 'to be enqueued' : `to be enqueued ${times(options.times)}`;
  const lines = [
    `Expected ${nameOf(search)} ${wanted}, but it was ${times(found.length)}.`,
    ...listOf(search),
  ];
  throw failure('expectEnqueued', lines, search);
}

/**
 * Makes sure that no job is like this.
 *
 * @throws AssertionError of Node that lists those that are
 */
export function refuseExpected(search: EnqueueSearch): void {
  const found = search.jobs.filter((job) => problemOf(search, job) === undefined);
  if (found.length === 0) return;
  const lines = [
    `Expected ${nameOf(search)} not to be enqueued, but it was ${times(found.length)}:`,
    ...found.slice(0, listedJobs).map((job) => `  ${lineOf(job)}`),
  ];
  throw failure('expectNotEnqueued', lines, { ...search, jobs: found });
}

/** Checks what a caller in plain JavaScript said. @throws OptionsInvalidError */
export function checkExpectation(call: string, options: EnqueueExpectation): void {
  const check = new OptionCheck(call);
  check.names(options, names);
  check.whole('times', options.times, { min: 0, max: Number.MAX_SAFE_INTEGER });
  check.duration('delay', options.delay);
  check.done();
}

/** Why a job is not the one that is looked for. */
function problemOf(search: EnqueueSearch, job: EnqueuedJob): string | undefined {
  if (job.type !== typeOf(search)) return `its type is "${job.type}"`;
  const { payload, options } = search;
  if (typeof payload === 'function') {
    // Only callers know what it takes.
    const accepts = payload as (given: unknown) => boolean;
    if (!accepts(job.payload)) return 'the function does not accept its payload';
  } else if (payload !== undefined) {
    const difference = differenceOf(payload, job.payload, 'payload');
    if (difference !== undefined) return difference;
  }
  return problemOfOptions(options, job);
}

function problemOfOptions(options: EnqueueExpectation, job: EnqueuedJob): string | undefined {
  const { delay, tags = [], metadata = {} } = options;
  for (const name of ['queue', 'status', 'priority', 'uniqueKey'] as const) {
    if (options[name] === undefined) continue;
    const difference = differenceOf(options[name], job[name], name);
    if (difference !== undefined) return difference;
  }
  const missing = tags.filter((tag) => !job.tags.includes(tag));
  if (missing.length > 0) return `tags is ${shown(job.tags)}, without ${shown(missing)}`;
  const difference = differenceOf(metadata, job.metadata, 'metadata');
  if (difference !== undefined) return difference;
  return delay === undefined ? undefined : problemOfDelay(delay, job);
}

function problemOfDelay(delay: Duration, { delayMs }: EnqueuedJob): string | undefined {
  const check = new OptionCheck('delay');
  const wantedMs = check.duration('delay', delay) ?? 0;
  if (delayMs === undefined) return 'it waits for other jobs';
  if (Math.abs(delayMs - wantedMs) <= toleranceMs) return undefined;
  return `delay is ${String(Math.round(delayMs))} ms instead of ${String(wantedMs)} ms`;
}

function failure(operator: string, lines: readonly string[], search: EnqueueSearch): Error {
  const { payload, jobs } = search;
  const ofType = jobs.filter(({ type }) => type === typeOf(search)).map((job) => job.payload);
  return new AssertionError({
    message: lines.join('\n'),
    operator,
    expected: typeof payload === 'function' ? String(payload) : payload,
    // One job is held against what was expected; of several, a person has to choose.
    actual: ofType.length === 1 ? ofType[0] : ofType,
  });
}

function listOf(search: EnqueueSearch): readonly string[] {
  const { jobs } = search;
  if (jobs.length === 0) return ['Nothing was enqueued at all.'];
  const isOfType = (job: EnqueuedJob): boolean => job.type === typeOf(search);
  // Those that come closest are read first.
  const ordered = [...jobs.filter(isOfType), ...jobs.filter((job) => !isOfType(job))];
  const lines = ordered.slice(0, listedJobs).map((job) => {
    const problem = isOfType(job) ? problemOf(search, job) : undefined;
    return `  ${lineOf(job)}${problem === undefined ? '' : `: ${problem}`}`;
  });
  const more = ordered.length - lines.length;
  return ['Enqueued were:', ...lines, ...(more > 0 ? [`  and ${String(more)} more`] : [])];
}

const lineOf = ({ type, payload, status, queue }: EnqueuedJob): string =>
  `"${type}" ${shown(payload)} (${status}, queue "${queue}")`;

function nameOf(search: EnqueueSearch): string {
  const { payload, options } = search;
  const { times: _times, ...said } = options;
  const withPayload =
    payload === undefined
      ? ''
      : ` with ${typeof payload === 'function' ? 'a payload that the function accepts' : shown(payload)}`;
  const withOptions = Object.keys(said).length === 0 ? '' : ` and ${shown(said)}`;
  return `"${typeOf(search)}"${withPayload}${withOptions}`;
}

const typeOf = ({ job }: EnqueueSearch): string => (typeof job === 'string' ? job : job.type);

function times(count: number): string {
  if (count === 0) return 'not';
  return count === 1 ? 'once' : `${String(count)} times`;
}
