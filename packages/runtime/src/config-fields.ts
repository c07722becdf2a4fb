import { parseDurationMs } from '@holdfast/domain';
import { z } from 'zod';
import { logFormats, logLevels } from './logger.ts';

/** Bounds and default of a duration variable, as a person writes them: `30s`, `5m`. */
export interface DurationFieldOptions {
  readonly default: string;
  readonly min?: string;
  readonly max?: string;
}

/** A duration such as `30s`, `5m` or `PT1H`; becomes milliseconds. */
export function durationField(
  options: DurationFieldOptions,
): z.ZodDefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>> {
  const minMs = boundMs(options.min) ?? 0;
  const maxMs = boundMs(options.max) ?? Infinity;
  return z
    .string()
    .transform((text, context) => {
      const durationMs = parseDurationMs(text);
      if (durationMs === undefined) {
        return refuse(context, 'must be a duration such as 500ms, 30s or 5m');
      }
      if (durationMs < minMs) return refuse(context, `must be at least ${options.min ?? '0s'}`);
      if (durationMs > maxMs) return refuse(context, `must be at most ${options.max ?? ''}`);
      return durationMs;
    })
    .default(boundMs(options.default) ?? 0);
}

/** A whole number within bounds. */
export function integerField(options: {
  readonly min: number;
  readonly max: number;
}): z.ZodPipe<z.ZodString, z.ZodTransform<number, string>> {
  const { min, max } = options;
  return z.string().transform((text, context) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= min && value <= max) return value;
    return refuse(context, `must be a whole number from ${String(min)} to ${String(max)}`);
  });
}

/** `on`/`off`, `true`/`false`, `1`/`0`, `yes`/`no`. */
export function switchField(): z.ZodPipe<z.ZodString, z.ZodTransform<boolean, string>> {
  return z.string().transform((text, context) => {
    const word = text.toLowerCase();
    if (['on', 'true', '1', 'yes'].includes(word)) return true;
    if (['off', 'false', '0', 'no'].includes(word)) return false;
    return refuse(context, 'must be on or off');
  });
}

/** Words separated by commas; spaces around them and empty ones are dropped. */
export function listField(): z.ZodPipe<z.ZodString, z.ZodTransform<readonly string[], string>> {
  return z.string().transform((text): readonly string[] =>
    text
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  );
}

/** A PostgreSQL connection string; the message never repeats it, since it holds a password. */
export function databaseUrlField(): z.ZodString {
  return z.string().refine((text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text), {
    error: 'must be a URL such as postgres://user:password@host:5432/name',
  });
}

/** The variables that every process understands. */
export const commonFields = {
  DATABASE_URL: databaseUrlField(),
  HOLDFAST_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be a plain lower-case SQL name')
    .default('holdfast'),
  HOLDFAST_PROBE_PORT: integerField({ min: 0, max: 65_535 }).optional(),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  LOG_FORMAT: z.enum(logFormats).default('json'),
} as const;

function boundMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const durationMs = parseDurationMs(text);
  if (durationMs === undefined) throw new TypeError(`Not a duration: ${text}`);
  return durationMs;
}

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}
