import { systemClock } from './clock.ts';
import { exitCodes } from './exit-codes.ts';
import { parentWatch } from './parent-watch.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Service } from './service.ts';

/** Why a process stops. */
export interface StopRequest {
  /** `SIGTERM`, `SIGINT`, `parent_gone`, or a service's own word. */
  readonly reason: string;
  /** Exit code when everything stops in time; default 0. */
  readonly exitCode?: number;
}

/** The parts of Node's `process` that are needed here. */
export interface ProcessDoor {
  on(event: 'SIGTERM' | 'SIGINT' | 'disconnect', listener: () => void): unknown;
  off(event: 'SIGTERM' | 'SIGINT' | 'disconnect', listener: () => void): unknown;
  exit(code: number): void;
  /** Present when a parent process holds an IPC channel. */
  send?(message: ProcessMessage): unknown;
}

/** What a process tells its parent. */
export interface ProcessMessage {
  /** `started`: every service serves. */
  readonly event: 'started';
}

/** How `runUntilSignal` runs. */
export interface RunOptions {
  /** Stopping may take this long; then the process exits with code 1. */
  readonly drainTimeoutMs: number;
  /** The same when the parent process has vanished, and perhaps the database with it; default as above. */
  readonly parentGoneTimeoutMs?: number;
  readonly logger: Logger;
  /** Told at the first request to stop, before anything stops: turn readiness off here. */
  readonly onSignal?: (request: StopRequest) => void;
  /** A service that must end the process gives a `StopRequest` to this function. */
  readonly onStopper?: (stop: (request: StopRequest) => void) => void;
  /**
   * A second signal counts only when it comes this long after the first; default 0. For a process whose starter
   * passes on a signal that the terminal has sent to both.
   */
  readonly forceAfterMs?: number;
  readonly clock?: Clock;
  readonly door?: ProcessDoor;
}

/**
 * Starts the services in order, waits for SIGTERM, SIGINT or the end of the parent process (when it
 * holds an IPC channel), and stops them in reverse order. A second signal exits at once.
 *
 * @returns the exit code: 0 after a clean stop
 * @throws what a service threw while starting, after those already started were stopped
 */
export async function runUntilSignal(
  services: readonly Service[],
  options: RunOptions,
): Promise<number> {
  const requests = listenForStop(options);
  const started: Service[] = [];
  try {
    for (const service of services) {
      if (requests.isRequested()) break;
      await service.start();
      started.push(service);
    }
    if (!requests.isRequested()) {
      options.logger.info('started');
      requests.tellParent();
    }
    const request = await requests.first;
    options.logger.info({ reason: request.reason }, 'stopping');
    return await drain(started, {
      ...options,
      drainTimeoutMs: timeoutFor(request, options),
      exitCode: request.exitCode ?? exitCodes.ok,
    });
  } catch (error) {
    await drain(started, { ...options, exitCode: exitCodes.failure });
    throw error;
  } finally {
    requests.close();
  }
}

function timeoutFor({ reason }: StopRequest, options: RunOptions): number {
  const { drainTimeoutMs, parentGoneTimeoutMs = drainTimeoutMs } = options;
  return reason === 'parent_gone' ? parentGoneTimeoutMs : drainTimeoutMs;
}

interface StopRequests {
  readonly first: Promise<StopRequest>;
  isRequested(): boolean;
  tellParent(): void;
  close(): void;
}

function listenForStop(options: RunOptions): StopRequests {
  const door: ProcessDoor = options.door ?? process;
  const { clock = systemClock, forceAfterMs = 0 } = options;
  let requestedAtMs = 0;
  let requested = false;
  let resolveFirst: (request: StopRequest) => void;
  const first = new Promise<StopRequest>((resolve) => {
    resolveFirst = resolve;
  });
  const request = (asked: StopRequest): void => {
    if (requested) return;
    requested = true;
    requestedAtMs = clock.monotonicMs();
    options.onSignal?.(asked);
    resolveFirst(asked);
  };
  const signal = (reason: 'SIGTERM' | 'SIGINT', forcedCode: number) => (): void => {
    if (!requested) request({ reason });
    else if (clock.monotonicMs() - requestedAtMs >= forceAfterMs) door.exit(forcedCode);
  };
  const listeners = {
    SIGTERM: signal('SIGTERM', exitCodes.terminated),
    SIGINT: signal('SIGINT', exitCodes.interrupted),
    disconnect: (): void => {
      request({ reason: 'parent_gone' });
    },
  } as const;
  const events = ['SIGTERM', 'SIGINT', 'disconnect'] as const;
  for (const event of events) door.on(event, listeners[event]);
  parentWatch.end();
  options.onStopper?.(request);
  return {
    first,
    isRequested: () => requested,
    tellParent: () => {
      door.send?.({ event: 'started' });
    },
    close: () => {
      for (const event of events) door.off(event, listeners[event]);
    },
  };
}

async function drain(
  started: readonly Service[],
  options: RunOptions & { readonly exitCode: number },
): Promise<number> {
  const { clock = systemClock, drainTimeoutMs, logger, exitCode } = options;
  const timer = new AbortController();
  const outcome = await Promise.race([
    stopInReverse(started, logger),
    clock.sleep(drainTimeoutMs, timer.signal).then(() => 'late' as const),
  ]);
  timer.abort();
  if (outcome === 'late') logger.error({ drainTimeoutMs }, 'drain timed out');
  return outcome === 'stopped' ? exitCode : Math.max(exitCode, exitCodes.failure);
}

async function stopInReverse(
  started: readonly Service[],
  logger: Logger,
): Promise<'stopped' | 'failed'> {
  let outcome: 'stopped' | 'failed' = 'stopped';
  for (const service of [...started].reverse()) {
    try {
      await service.stop();
    } catch (error) {
      outcome = 'failed';
      logger.error({ err: error, service: service.name }, 'service failed to stop');
    }
  }
  return outcome;
}
