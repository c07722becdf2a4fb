import { pino } from 'pino';
import type { Logger } from './logger.ts';

/** The severities that somebody else's logger is sure to have. */
export type ForwardedLevel = 'debug' | 'info' | 'warn' | 'error';

/** Takes one log line. */
export type ForwardLine = (
  level: ForwardedLevel,
  fields: Readonly<Record<string, unknown>>,
  message: string,
) => void;

/** A logger that writes nothing itself and gives each line to a function. */
export function createForwardingLogger(forward: ForwardLine): Logger {
  return pino({
    level: 'debug',
    hooks: {
      logMethod(args: readonly unknown[], _method, level) {
        const [first, second] = args;
        const isFirstText = typeof first === 'string';
        const message = isFirstText ? first : typeof second === 'string' ? second : '';
        const fields = typeof first === 'object' && first !== null ? first : {};
        forward(levelOf(level), { ...fields }, message);
      },
    },
  });
}

/** pino counts 20 for debug, 30 for info, and so on. */
function levelOf(level: number): ForwardedLevel {
  if (level >= 50) return 'error';
  if (level >= 40) return 'warn';
  return level >= 30 ? 'info' : 'debug';
}
