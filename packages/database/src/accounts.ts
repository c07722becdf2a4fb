import { createHash, randomBytes } from 'node:crypto';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** The roles of a project's members; each includes the ones before it. */
export type MemberRole = 'viewer' | 'operator' | 'admin' | 'owner';

/** A person who can sign in, as stored. */
export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly password_hash: string;
  readonly password_change_required: boolean;
  readonly disabled: boolean;
  readonly created_at: Date;
  readonly memberships: readonly { readonly project: string; readonly role: MemberRole }[];
}

/** What is needed to check a password. */
export interface CredentialsRow {
  readonly id: string;
  readonly email: string;
  readonly password_hash: string;
  readonly disabled: boolean;
}

/** A new person. */
export interface NewUser {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  /** A PHC string. */
  readonly passwordHash: string;
  readonly mustChangePassword: boolean;
}

/** Whether nobody can sign in yet. */
export async function hasNoUsers(db: Queryable): Promise<boolean> {
  const [row] = await db.query<{ user_count: number }>(statements.countUsers);
  return row?.user_count === 0;
}

/** Adds a person; false when the e-mail address is taken. */
export async function insertUser(db: Queryable, user: NewUser): Promise<boolean> {
  const values = [user.id, user.email, user.passwordHash, user.mustChangePassword];
  const rows = await db.query(statements.insertUser, values);
  return rows.length > 0;
}

/** Gives a person a role in a project, or another one. */
export async function setMembership(
  db: Queryable,
  member: { readonly project: string; readonly userId: string; readonly role: MemberRole },
): Promise<void> {
  await db.query(statements.insertMembership, [member.project, member.userId, member.role]);
}

/** The person with an e-mail address (lower case). */
export async function findUserByEmail(
  db: Queryable,
  email: string,
): Promise<CredentialsRow | undefined> {
  const [row] = await db.query<CredentialsRow>(statements.findUserByEmail, [email]);
  return row;
}

/** One person with all memberships. */
export async function readUser(db: Queryable, userId: string): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(statements.readUser, [userId]);
  return row;
}

/** Stores a new password hash; a demand to change the password is met by it. */
export async function updatePassword(
  db: Queryable,
  userId: string,
  passwordHash: string,
): Promise<void> {
  await db.query(statements.updatePassword, [userId, passwordHash]);
}

/** A project with the role that a person has in it. */
export interface ProjectOfUserRow {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly created_at: Date;
  readonly role: MemberRole;
}

/** The projects that a person is a member of, by slug. */
export async function listProjectsOfUser(
  db: Queryable,
  userId: string,
): Promise<readonly ProjectOfUserRow[]> {
  return db.query<ProjectOfUserRow>(statements.listProjectsOfUser, [userId]);
}

/** What a signed-in person may do now. */
export interface PersonAccessRow {
  readonly email: string;
  readonly password_change_required: boolean;
  readonly project_id: string | null;
  readonly project_slug: string | null;
  readonly role: MemberRole | null;
}

/** The rights of a session's person, in a project if one is named; `undefined` when the session is over. */
export async function readPersonAccess(
  db: Queryable,
  request: {
    readonly sessionId: string;
    readonly userId: string;
    readonly project: string | undefined;
  },
): Promise<PersonAccessRow | undefined> {
  const values = [request.sessionId, request.userId, request.project ?? null];
  const [row] = await db.query<PersonAccessRow>(statements.readPersonAccess, values);
  return row;
}

/**
 * Makes a one-time ticket for a sign-in link.
 *
 * @returns the ticket; only its hash is stored. `undefined` when nobody has the e-mail address.
 */
export async function issueSignInTicket(
  db: Queryable,
  request: { readonly email: string; readonly lifeMs: number },
): Promise<string | undefined> {
  const user = await findUserByEmail(db, request.email.toLowerCase());
  if (user === undefined || user.disabled) return undefined;
  const ticket = randomBytes(32).toString('base64url');
  await db.query(statements.insertSignInTicket, [sha256(ticket), user.id, request.lifeMs]);
  return ticket;
}

/** Uses a ticket up; answers whom it signs in, or `undefined` when it is unknown, used or over. */
export async function redeemSignInTicket(
  db: Queryable,
  ticket: string,
): Promise<string | undefined> {
  const values = [sha256(ticket)];
  const [row] = await db.query<{ user_id: string }>(statements.redeemSignInTicket, values);
  return row?.user_id;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
