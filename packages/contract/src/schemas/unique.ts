import {
  isUniqueKey,
  jobLimits,
  maxDurationMs,
  uniqueConflictModes,
  uniqueProblems,
  uniqueScopes,
  uniqueUntils,
} from '@holdfast/domain';
import type { UniqueSettings } from '@holdfast/domain';
import { z } from 'zod';
import { durationInput } from './values.ts';

const Wait = durationInput({ minMs: 1, maxMs: maxDurationMs });

/** A text that at most one job at a time may hold. */
export const UniqueKey = z
  .string()
  .refine(
    isUniqueKey,
    `must be 1 to ${String(jobLimits.uniqueKeyBytes)} bytes of text without NUL; hash longer ones`,
  )
  .meta({ minLength: 1, maxLength: jobLimits.uniqueKeyBytes });

/** A unique key as sent; read into {@link UniqueSettings}. */
export const UniqueInput = z
  .strictObject({
    key: UniqueKey,
    scope: z.enum(uniqueScopes).optional().meta({ description: 'Default "type".' }),
    until: z.enum(uniqueUntils).optional().meta({
      description: 'How long it is held; default "done", with debounce "start".',
    }),
    ttl: Wait.optional(),
    onConflict: z.enum(uniqueConflictModes).optional().meta({ description: 'Default "keep".' }),
    wait: Wait.optional(),
    maxWait: Wait.optional(),
  })
  .transform(({ ttl, wait, maxWait, ...named }, context): UniqueSettings => {
    const settings = { ...named, ttlMs: ttl, waitMs: wait, maxWaitMs: maxWait };
    for (const { field, detail } of uniqueProblems(settings)) {
      context.addIssue({ code: 'custom', path: [field], message: detail });
    }
    return settings;
  })
  .meta({ id: 'UniqueInput' });

/** A unique key as answered. */
export const Unique = z
  .object({ key: z.string(), scope: z.enum(uniqueScopes), until: z.enum(uniqueUntils) })
  .meta({ id: 'Unique' });
