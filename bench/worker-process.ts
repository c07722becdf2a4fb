import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchServer } from './bench-server.ts';

/** What the handlers of the measured worker tell. */
export type WorkerMessage =
  | { readonly kind: 'warm' }
  | { readonly kind: 'first' }
  | { readonly kind: 'last'; readonly cpuSeconds: number }
  | { readonly kind: 'picked_up'; readonly tookMs: number };

/** A worker in a process of its own, with the settings that it has by default. */
export interface WorkerProcess {
  readonly pid: number;
  /** Resolves at the next message of this kind; rejects when the process ends before. */
  next<Kind extends WorkerMessage['kind']>(
    kind: Kind,
  ): Promise<Extract<WorkerMessage, { readonly kind: Kind }>>;
  /** Stops its clock, so to speak: it does nothing until it is thawed, and does not know it. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** How many jobs the handlers count: those that warm the process up, and those that are measured. */
export interface CountedJobs {
  readonly warmUp?: number;
  readonly measured?: number;
}

const root = join(import.meta.dirname, '..');

/** The worker application as it is shipped, and a program of few lines with `createWorker`. */
export const workerPrograms = {
  worker: join(root, 'apps', 'worker', 'dist', 'main.js'),
  createWorker: join(import.meta.dirname, 'sdk-worker.mjs'),
} as const;

/** Starts one of the programs, the application unless said otherwise. */
export function startWorker(
  server: BenchServer,
  counted: CountedJobs = {},
  program: keyof typeof workerPrograms = 'worker',
): WorkerProcess {
  const child = spawn(process.execPath, [workerPrograms[program]], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: server.url,
      HOLDFAST_HANDLERS: join(import.meta.dirname, 'noop-handlers.mjs'),
      LOG_LEVEL: 'warn',
      BENCH_WARM_UP_JOBS: String(counted.warmUp ?? 0),
      BENCH_JOBS: String(counted.measured ?? 0),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The worker ended with code ${String(code)}`);
  });
  ended.catch(() => undefined);
  return {
    pid: child.pid ?? NaN,
    next(kind) {
      const told = new Promise<Extract<WorkerMessage, { kind: typeof kind }>>((resolve) => {
        child.on('message', function listen(message: WorkerMessage) {
          if (!isOfKind(message, kind)) return;
          child.off('message', listen);
          resolve(message);
        });
      });
      return Promise.race([told, ended]);
    },
    freeze() {
      child.kill('SIGSTOP');
    },
    thaw() {
      child.kill('SIGCONT');
    },
    async stop() {
      child.kill('SIGTERM');
      await ended.catch(() => undefined);
    },
  };
}

function isOfKind<Kind extends WorkerMessage['kind']>(
  message: WorkerMessage,
  kind: Kind,
): message is Extract<WorkerMessage, { readonly kind: Kind }> {
  return message.kind === kind;
}
