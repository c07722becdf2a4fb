import { isTransientError, listSteps, recordStep } from '@holdfast/database';
import type { KeptStep, Queryable } from '@holdfast/database';
import { HoldfastError, LeaseLostError, NonRetryableError } from '@holdfast/domain';
import type { Clock, Logger } from '@holdfast/runtime';
import { abortForLostLease } from './executor.ts';
import type { JobLog } from './handler.ts';
import { controllerOf, leaseOf } from './held-job.ts';
import type { HeldJob } from './held-job.ts';
import { isStoredNote, safeJson, storableText } from './safe-json.ts';
import type { Stored } from './stored.ts';

/** Where steps are kept. */
export interface StepStore {
  readonly db: Queryable;
  readonly projectId: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const maxNameLength = 200;
const retryCapMs = 5_000;

/** The named steps of one execution. */
export class HandlerSteps {
  readonly #job: HeldJob;
  readonly #store: StepStore;
  readonly #log: JobLog;
  readonly #names = new Set<string>();
  #kept: Promise<ReadonlyMap<string, KeptStep>> | undefined;
  #position = 0;

  constructor(job: HeldJob, store: StepStore, log: JobLog) {
    this.#job = job;
    this.#store = store;
    this.#log = log;
  }

  /**
   * Gives what the step gave in an earlier execution, or runs it and keeps what it gives. Either way the result has been
   * through JSON, so that it is the same in every execution.
   *
   * @throws HoldfastError `step_invalid` or `step_repeated` for its name; `step_result_lost` when an earlier execution
   *   could not keep the result; the reason of the abort signal, when it came first; whatever `run` threw.
   */
  async run<Result>(name: string, run: () => Result | Promise<Result>): Promise<Stored<Result>> {
    this.#take(name);
    const kept = (await this.#loadKept()).get(name);
    // The handler's own type for what it gave then; it is as true as for any JSON that comes back.
    if (kept !== undefined) return resultOf(kept) as Stored<Result>;
    try {
      controllerOf(this.#job).signal.throwIfAborted();
      return await this.#runAndKeep(name, run);
    } catch (error) {
      this.#names.delete(name);
      throw error;
    }
  }

  #take(name: unknown): void {
    if (typeof name !== 'string' || !isName(name)) {
      throw new HoldfastError(
        `The name of a step must be a text of 1 to ${String(maxNameLength)} characters, without NUL`,
        { code: 'step_invalid' },
      );
    }
    if (this.#names.has(name)) {
      throw new HoldfastError(`The step "${name}" ran before in this execution`, {
        code: 'step_repeated',
      });
    }
    this.#names.add(name);
  }

  #loadKept(): Promise<ReadonlyMap<string, KeptStep>> {
    const { attempt, executionSeq } = this.#job.claimed;
    const isFirst = attempt === 1 && executionSeq === 1;
    this.#kept ??= isFirst ? Promise.resolve(new Map<string, KeptStep>()) : this.#readKept();
    return this.#kept;
  }

  async #readKept(): Promise<ReadonlyMap<string, KeptStep>> {
    const { db, projectId } = this.#store;
    const steps = await this.#retry(() => listSteps(db, { projectId, lease: leaseOf(this.#job) }));
    if (steps === undefined) throw this.#lost();
    this.#position = Math.max(0, ...steps.map(({ position }) => position));
    return new Map(steps.map((step) => [step.name, step]));
  }

  async #runAndKeep<Result>(
    name: string,
    run: () => Result | Promise<Result>,
  ): Promise<Stored<Result>> {
    const result = await run();
    const { json: resultJson, problem } = safeJson(result);
    this.#position += 1;
    const step: KeptStep = { name, position: this.#position, resultJson };
    const { db, projectId } = this.#store;
    const request = { projectId, lease: leaseOf(this.#job), step };
    // What the step did is done: only a lost lease ends the attempts to keep it.
    if (!(await this.#retry(() => recordStep(db, request)))) throw this.#lost();
    if (problem === undefined) return resultOf(step) as Stored<Result>;
    this.#log.warn('The result of a step could not be kept', { step: name, problem });
    // It has no JSON that could be given instead.
    return result as Stored<Result>;
  }

  async #retry<Result>(call: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call();
      } catch (error) {
        if (!isTransientError(error)) throw error;
        if (this.#job.lost || this.#job.finishedAtMs !== 0) throw this.#lost();
        this.#store.logger.warn({ err: error, tries }, 'access to a job’s steps failed');
        await this.#store.clock.sleep(Math.random() * Math.min(retryCapMs, 50 * 2 ** tries));
      }
    }
  }

  #lost(): LeaseLostError {
    abortForLostLease(this.#job);
    return new LeaseLostError();
  }
}

function isName(name: string): boolean {
  return name.length > 0 && name.length <= maxNameLength && storableText(name) === name;
}

function resultOf({ name, resultJson }: KeptStep): unknown {
  if (resultJson === undefined) return undefined;
  const result: unknown = JSON.parse(resultJson);
  if (!isStoredNote(result)) return result;
  // The step must not run twice, and nobody can tell what it gave.
  throw new NonRetryableError(`The step "${name}" ran before; its result could not be kept`, {
    code: 'step_result_lost',
  });
}
