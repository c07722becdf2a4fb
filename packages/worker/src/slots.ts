import type { HeldJob } from './held-job.ts';
import { isSuspect } from './held-job.ts';

/**
 * Where held jobs are: buffered (claimed, not started), running in a slot, or stuck (their attempt ended, their handler
 * did not). Jobs that took a worker down before have one slot of their own and run there one at a time.
 */
export class Slots {
  readonly concurrency: number;
  readonly running = new Set<HeldJob>();
  readonly #buffer: HeldJob[] = [];
  readonly #suspects: HeldJob[] = [];
  #next = 0;
  #quarantined: HeldJob | undefined;
  #stuck = 0;

  constructor(concurrency: number) {
    this.concurrency = concurrency;
  }

  /** Slots whose handler ignored its abort. */
  get stuck(): number {
    return this.#stuck;
  }

  /** Ordinary jobs that wait for a slot. */
  get buffered(): number {
    return this.#buffer.length - this.#next;
  }

  /** Handlers that run, stuck ones among them. */
  get busy(): number {
    return this.running.size + this.#stuck;
  }

  /** Ordinary slots that could take a job now. */
  get free(): number {
    const quarantined = this.#quarantined === undefined ? 0 : 1;
    return Math.max(0, this.concurrency - (this.running.size - quarantined) - this.#stuck);
  }

  /** Whether a suspect may be claimed. */
  get quarantineFree(): boolean {
    return this.#quarantined === undefined && this.#suspects.length === 0;
  }

  /** Takes over a claimed job. */
  add(job: HeldJob): void {
    (isSuspect(job) ? this.#suspects : this.#buffer).push(job);
  }

  /** Takes the next job that has a slot, and puts it there. */
  takeNext(): HeldJob | undefined {
    if (this.#quarantined === undefined) {
      this.#quarantined = this.#suspects.shift();
      if (this.#quarantined !== undefined) return this.#run(this.#quarantined);
    }
    if (this.free === 0) return undefined;
    const job = this.#shift();
    return job && this.#run(job);
  }

  /** The attempt ended; a handler that still runs keeps its slot until `unstick`. */
  end(job: HeldJob, handler: 'ended' | 'stuck'): void {
    this.running.delete(job);
    if (this.#quarantined === job) this.#quarantined = undefined;
    if (handler === 'stuck') this.#stuck += 1;
  }

  /** A handler that ignored its abort has ended at last. */
  unstick(): void {
    this.#stuck -= 1;
  }

  /** Takes every job out that has not started. */
  takeBuffered(): readonly HeldJob[] {
    const jobs = [...this.#buffer.slice(this.#next), ...this.#suspects];
    this.#buffer.length = 0;
    this.#suspects.length = 0;
    this.#next = 0;
    return jobs;
  }

  /** Takes one job out of the buffer, if it is there. */
  remove(job: HeldJob): boolean {
    for (const list of [this.#buffer, this.#suspects]) {
      const index = list.indexOf(job, list === this.#buffer ? this.#next : 0);
      if (index < 0) continue;
      list.splice(index, 1);
      return true;
    }
    return false;
  }

  #run(job: HeldJob): HeldJob {
    this.running.add(job);
    return job;
  }

  /** Shifting a long array costs its length each time; moving an index does not. */
  #shift(): HeldJob | undefined {
    const job = this.#buffer[this.#next];
    if (job === undefined) return undefined;
    this.#next += 1;
    if (this.#next === this.#buffer.length || this.#next > 1_000) {
      this.#buffer.splice(0, this.#next);
      this.#next = 0;
    }
    return job;
  }
}
