import { z } from 'zod';
import { Id, Instant, Name } from './values.ts';

/** What a member of a project may do; each role includes the ones before it. */
export const roles = ['viewer', 'operator', 'admin', 'owner'] as const;

/** One of the four roles. */
export type Role = (typeof roles)[number];

const Email = z.string().trim().min(3).max(254);

// The real limits of a password are in bytes and are checked before any hashing.
const PresentedPassword = z.string().min(1).max(1024);

const NewPassword = z.string().min(12, 'must have at least 12 characters').max(256);

/** `POST /auth/login` */
export const LoginInput = z.strictObject({ email: Email, password: PresentedPassword });

/** `POST /auth/ticket`: the one-time ticket of a sign-in link. */
export const TicketInput = z.strictObject({ ticket: z.string().min(16).max(256) });

/** `POST /auth/password` */
export const PasswordInput = z.strictObject({
  currentPassword: PresentedPassword,
  newPassword: NewPassword,
});

/** A person who signs in, with the roles that the person has. */
export const User = z
  .object({
    id: Id,
    email: z.string(),
    passwordChangeRequired: z.boolean(),
    memberships: z.array(z.object({ project: Name, role: z.enum(roles) })).readonly(),
    createdAt: Instant,
  })
  .meta({ id: 'User' });

/** A person who signs in. */
export type User = z.infer<typeof User>;

/** A new session. The refresh token is not in it: it is in an httpOnly cookie. `expiresIn` counts seconds. */
export const Session = z
  .object({ accessToken: z.string(), expiresIn: z.int(), user: User })
  .meta({ id: 'Session' });

/** A new session. */
export type Session = z.infer<typeof Session>;
