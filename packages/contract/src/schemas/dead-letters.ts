import { z } from 'zod';
import { Id, Instant, Name } from './values.ts';
import { pageQuery } from './paging.ts';

/** The form of an error's fingerprint. */
export const Fingerprint = z.string().min(1).max(512);

/** `GET …/dead-letters` */
export const DeadLettersQuery = z.strictObject({
  queue: Name.optional(),
  type: Name.optional(),
  fingerprint: Fingerprint.optional(),
  ...pageQuery,
});

/** `GET …/dead-letters/groups` */
export const DeadLetterGroupsQuery = z.strictObject({
  queue: Name.optional(),
  type: Name.optional(),
});

/** Dead letters whose last errors are alike. */
export const DeadLetterGroup = z
  .object({
    fingerprint: z.string().nullable(),
    type: Name,
    queue: Name,
    code: z.string().nullable(),
    message: z.string().nullable(),
    count: z.int(),
    firstSeenAt: Instant,
    lastSeenAt: Instant,
    sampleJobId: Id,
  })
  .meta({ id: 'DeadLetterGroup' });

/** Dead letters whose last errors are alike. */
export type DeadLetterGroup = z.infer<typeof DeadLetterGroup>;
