import { spawn } from 'node:child_process';
import { searchPath } from './config.ts';
import { waitFor } from './wait-for.ts';

/** What is run, and how. */
export interface SpawnProcessOptions {
  /** The JavaScript file to run with this Node. */
  readonly script: string;
  readonly args?: readonly string[];
  /** The whole environment, except for PATH; nothing of the test's own is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** How a process ended: by itself with a code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A real process under test. */
export interface SpawnedProcess {
  readonly pid: number;
  /** Everything that it has written to both of its outputs so far. */
  output(): string;
  /** Resolves when it has ended and its output is complete. */
  readonly exited: Promise<ProcessExit>;
  /** True until it ends. */
  isRunning(): boolean;
  /** Sends a signal; does nothing when it has ended. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the match once the output contains the pattern; throws when it ends before. */
  waitForOutput(
    pattern: RegExp,
    options?: { readonly timeoutMs?: number },
  ): Promise<RegExpExecArray>;
  /** Ends it by SIGKILL, also when it is stopped, and waits. For the cleanup after a test. */
  destroy(): Promise<void>;
}

/** Starts a built application as a process of its own and collects what it writes. */
export function spawnProcess(options: SpawnProcessOptions): SpawnedProcess {
  const child = spawn(process.execPath, [options.script, ...(options.args ?? [])], {
    cwd: options.cwd,
    env: { ...searchPath(), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const exited = new Promise<ProcessExit>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => {
      resolve({ code, signal });
    });
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    isRunning,
    kill: (signal) => void child.kill(signal),
    waitForOutput: (pattern, { timeoutMs = 60_000 } = {}) =>
      waitForOutput({ pattern, timeoutMs, output: () => output, isRunning }),
    async destroy() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

interface OutputWait {
  readonly pattern: RegExp;
  readonly timeoutMs: number;
  readonly output: () => string;
  readonly isRunning: () => boolean;
}

async function waitForOutput(wait: OutputWait): Promise<RegExpExecArray> {
  const { pattern, output, isRunning } = wait;
  const found = () => {
    // Asked first: output that arrives between the two questions must not be missed.
    const hasEnded = !isRunning();
    return pattern.exec(output()) ?? (hasEnded ? 'ended' : undefined);
  };
  const answer = await waitFor(`the output matches ${String(pattern)}`, found, wait).catch(
    (error: unknown) => {
      throw new Error(`Not in the output: ${String(pattern)}\n${output()}`, { cause: error });
    },
  );
  if (answer !== 'ended') return answer;
  throw new Error(`The process ended before its output matched ${String(pattern)}\n${output()}`);
}
