import { exitCodes } from './exit-codes.ts';
import { createLoop } from './loop.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Loop } from './loop.ts';
import type { HealthCheck } from './probe-server.ts';
import type { StopRequest } from './run-until-signal.ts';

const checkEveryMs = 10_000;

/**
 * Ends the process when one of its loops hangs, since a process that is alive but idle helps nobody and a new one
 * can go on.
 */
export function createLoopWatchdog(options: {
  readonly loops: readonly Loop[];
  readonly stop: (request: StopRequest) => void;
  readonly logger: Logger;
  readonly clock?: Clock;
}): Loop {
  const { loops, stop, logger, clock } = options;
  return createLoop({
    name: 'watchdog',
    maxIntervalMs: checkEveryMs,
    logger,
    ...(clock === undefined ? {} : { clock }),
    run: () => {
      const stuck = loops.filter((loop) => loop.health().isStuck).map((loop) => loop.name);
      if (stuck.length > 0) {
        logger.fatal({ loops: stuck }, 'loops hang');
        stop({ reason: 'loops_stuck', exitCode: exitCodes.failure });
      }
      return Promise.resolve({ nextInMs: undefined });
    },
  });
}

/** A liveness check for each loop: fails while the loop hangs. */
export function livenessOf(loops: readonly Loop[]): readonly HealthCheck[] {
  return loops.map((loop) => ({
    name: loop.name,
    check: () => (loop.health().isStuck ? 'hangs' : undefined),
  }));
}

/** A readiness check for each loop: fails until a round has succeeded and while rounds fail. */
export function readinessOf(loops: readonly Loop[]): readonly HealthCheck[] {
  return loops.map((loop) => ({
    name: loop.name,
    check: () => {
      const { failureCount, lastSuccessAtMs } = loop.health();
      if (failureCount > 0) return `failed ${String(failureCount)} times in a row`;
      return lastSuccessAtMs === undefined ? 'no round yet' : undefined;
    },
  }));
}
