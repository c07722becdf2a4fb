import { pino } from 'pino';
import { prettyLogStream } from './pretty-log-stream.ts';
import type { DestinationStream, Logger as PinoLogger } from 'pino';

/** A structured logger: fixed words as message, fields beside them. */
export type Logger = PinoLogger;

/** Severities, from the least to the most. */
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** One of the severities. */
export type LogLevel = (typeof logLevels)[number];

/** `json` is one object a line for machines; `pretty` is for a person at a terminal. */
export const logFormats = ['json', 'pretty'] as const;

/** One of the formats of a log line. */
export type LogFormat = (typeof logFormats)[number];

/** What `createLogger` needs to know. */
export interface LoggerOptions {
  /** Name of the process, such as `scheduler`. */
  readonly name: string;
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  /** Where lines go; standard output by default. */
  readonly destination?: DestinationStream;
}

const secretFields = ['authorization', 'cookie', 'password', '["set-cookie"]'] as const;

/** Creates the process's logger; values of `authorization`, `cookie` and `password` never reach its output. */
export function createLogger(options: LoggerOptions): Logger {
  const { name, level = 'info', format = 'json' } = options;
  const output = options.destination ?? pino.destination({ fd: 1, sync: true });
  return pino(
    {
      name,
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: redactedPaths(), censor: '[redacted]' },
    },
    format === 'pretty' ? prettyLogStream(output) : output,
  );
}

/** A logger that says nothing, for tests and for callers who want silence. */
export function createSilentLogger(): Logger {
  return pino({ level: 'silent' });
}

function redactedPaths(): string[] {
  // pino has no "at any depth": name the depths at which requests and their headers are logged.
  return ['', '*.', '*.*.'].flatMap((prefix) =>
    secretFields.map((field) =>
      field.startsWith('[') ? `${prefix.slice(0, -1)}${field}` : `${prefix}${field}`,
    ),
  );
}
