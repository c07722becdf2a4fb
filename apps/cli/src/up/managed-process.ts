import { fork } from 'node:child_process';
import { closeSync } from 'node:fs';
import { HoldfastError } from '@holdfast/domain';
import { exitCodes, fullJitterMs, systemClock } from '@holdfast/runtime';
import type { ChildProcess } from 'node:child_process';
import type { Environment, Service } from '@holdfast/runtime';
import type { DataDirectory } from './data-directory.ts';

/** A process of ours: what it runs and how it is looked after. */
export interface ManagedProcessOptions {
  /** For people, such as `worker 1`. */
  readonly name: string;
  /** Path of the JavaScript file. */
  readonly script: string;
  readonly env: Environment;
  readonly dataDirectory: DataDirectory;
  /** Shows the process's output here instead of in its log file. */
  readonly isVerbose: boolean;
  /** After SIGTERM it may take this long before it is killed. */
  readonly stopTimeoutMs: number;
  /** Told when it died, when it runs again, and when it had to be killed. */
  readonly onEvent: (message: string) => void;
}

/** A process that runs until `stop`; when it dies before, it is started again after a growing wait. */
export interface ManagedProcess extends Service {
  readonly pid: number | undefined;
  start(): Promise<void>;
  /** Kills it at once, without waiting. */
  kill(): void;
}

const startTimeoutMs = 30_000;
const calmAfterMs = 30_000;
const restartBackoff = { baseMs: 1_000, capMs: 30_000 };

/** Creates the process; `start` resolves when it says that it serves, and rejects when it ends before. */
export function createManagedProcess(options: ManagedProcessOptions): ManagedProcess {
  return new RestartingProcess(options);
}

class RestartingProcess implements ManagedProcess {
  readonly name: string;
  readonly #options: ManagedProcessOptions;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();
  #deathCount = 0;

  constructor(options: ManagedProcessOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  kill(): void {
    this.#stopping.abort();
    this.#child?.kill('SIGKILL');
  }

  async start(): Promise<void> {
    const child = this.#launch();
    await this.#untilStarted(child);
    this.#ended = this.#lookAfter(child);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (child === undefined) return;
    child.kill('SIGTERM');
    const timer = new AbortController();
    const exited = exitOf(child);
    await Promise.race([exited, systemClock.sleep(this.#options.stopTimeoutMs, timer.signal)]);
    timer.abort();
    if (isRunning(child)) {
      this.#options.onEvent(`${this.name} did not stop in time and was killed`);
      child.kill('SIGKILL');
    }
    await exited;
    await this.#ended;
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #launch(): ChildProcess {
    const { script, env, dataDirectory, isVerbose } = this.#options;
    const log = isVerbose
      ? 'inherit'
      : dataDirectory.openLog(this.name, this.#deathCount === 0 ? 'first' : 'again');
    // A process group of its own: Ctrl-C reaches only us, and we stop our processes in order.
    // The IPC channel tells the child when we are gone.
    const child = fork(script, [], {
      env: { ...env },
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    if (typeof log === 'number') closeSync(log);
    this.#child = child;
    return child;
  }

  async #untilStarted(child: ChildProcess): Promise<void> {
    const timer = new AbortController();
    const outcome = await Promise.race([
      startedMessageOf(child),
      exitOf(child),
      systemClock.sleep(startTimeoutMs, timer.signal).then(() => 'silent' as const),
    ]);
    timer.abort();
    if (outcome === 'started' || this.#isStopping()) return;
    if (outcome === 'silent') child.kill('SIGKILL');
    throw startError(this.name, {
      exitCode: child.exitCode,
      output: this.#options.dataDirectory.readLogTail(this.name),
    });
  }

  async #sayWhenBack(child: ChildProcess): Promise<void> {
    const outcome = await Promise.race([startedMessageOf(child), exitOf(child)]);
    if (outcome === 'started') {
      this.#options.onEvent(`${this.name} runs again (pid ${String(child.pid)})`);
    }
  }

  /** Ends when the process has been stopped on purpose. */
  async #lookAfter(first: ChildProcess): Promise<void> {
    let child = first;
    for (;;) {
      const startedMs = systemClock.monotonicMs();
      await exitOf(child);
      if (this.#isStopping()) return;
      if (child.exitCode === 0) {
        this.#options.onEvent(`${this.name} stopped as it was asked to`);
        return;
      }
      const isCalm = systemClock.monotonicMs() - startedMs > calmAfterMs;
      this.#deathCount = isCalm ? 1 : this.#deathCount + 1;
      const waitMs = fullJitterMs(this.#deathCount, restartBackoff, Math.random);
      this.#options.onEvent(
        `${this.name} (pid ${String(child.pid)}) ended with ${endOf(child)}; ` +
          `starting it again in ${(waitMs / 1_000).toFixed(1)} s`,
      );
      await systemClock.sleep(waitMs, this.#stopping.signal);
      if (this.#isStopping()) return;
      child = this.#launch();
      void this.#sayWhenBack(child);
    }
  }
}

function startError(
  name: string,
  { exitCode, output }: { readonly exitCode: number | null; readonly output: string },
): HoldfastError {
  const how = exitCode === null ? 'did not start' : `ended with code ${String(exitCode)}`;
  return new HoldfastError(`${name} ${how}${output === '' ? '' : `:\n${output}`}`, {
    code: exitCode === exitCodes.config ? 'config_invalid' : 'process_start_failed',
  });
}

function startedMessageOf(child: ChildProcess): Promise<'started'> {
  return new Promise((resolve) => {
    child.on('message', (message: unknown) => {
      if (typeof message !== 'object' || message === null || !('event' in message)) return;
      if (message.event === 'started') resolve('started');
    });
  });
}

function exitOf(child: ChildProcess): Promise<'exited'> {
  if (!isRunning(child)) return Promise.resolve('exited');
  return new Promise((resolve) => {
    child.once('exit', () => {
      resolve('exited');
    });
    child.once('error', () => {
      resolve('exited');
    });
  });
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

function endOf(child: ChildProcess): string {
  return child.signalCode ?? `code ${String(child.exitCode)}`;
}
