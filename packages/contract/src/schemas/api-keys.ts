import { z } from 'zod';
import { Instant, InstantInput } from './values.ts';
import { MaybeInstant } from './paging.ts';

/** What an API key may do: `manage` includes the other two. */
export const apiKeyScopes = ['enqueue', 'read', 'manage'] as const;

/** One of the scopes of an API key. */
export type ApiKeyScope = (typeof apiKeyScopes)[number];

/** The public part of an API key, by which it is told apart. */
export const ApiKeyId = z.string().regex(/^[A-Za-z0-9]{8}$/);

/** `POST …/api-keys` */
export const ApiKeyInput = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .regex(/^\P{C}*$/u, 'must not contain control characters'),
  scopes: z
    .array(z.enum(apiKeyScopes))
    .min(1)
    .max(apiKeyScopes.length)
    .refine((scopes) => new Set(scopes).size === scopes.length, 'must not repeat a scope')
    .readonly(),
  expiresAt: InstantInput.nullish(),
});

/** An API key as listed; the key itself can never be read again. `prefix` is its start, to tell keys apart. */
export const ApiKey = z
  .object({
    id: ApiKeyId,
    name: z.string(),
    prefix: z.string(),
    scopes: z.array(z.enum(apiKeyScopes)).readonly(),
    createdAt: Instant,
    lastUsedAt: MaybeInstant,
    expiresAt: MaybeInstant,
    revokedAt: MaybeInstant,
  })
  .meta({ id: 'ApiKey' });

/** An API key as listed. */
export type ApiKey = z.infer<typeof ApiKey>;

/** A new API key, with the key itself: the only time that it is shown. */
export const CreatedApiKey = ApiKey.extend({ key: z.string() }).meta({ id: 'CreatedApiKey' });

/** A new API key. */
export type CreatedApiKey = z.infer<typeof CreatedApiKey>;
