import { z } from 'zod';
import { roles } from './auth.ts';
import { Id, Instant, Name } from './values.ts';

/** A project: the tenant that everything else belongs to. `role` is the caller's own; null for an API key. */
export const Project = z
  .object({
    id: Id,
    slug: Name,
    name: z.string(),
    role: z.enum(roles).nullable(),
    createdAt: Instant,
  })
  .meta({ id: 'Project' });

/** A project. */
export type Project = z.infer<typeof Project>;
