import { permissions, roles } from '@holdfast/contract';
import type { Permission, Role } from '@holdfast/contract';
import { sessionState, useSession } from './session.ts';
import type { SessionState } from './session.ts';

const fallbackProject = 'default';

function membershipOf(session: SessionState) {
  if (session.status !== 'signed_in') return undefined;
  const { memberships } = session.user;
  return memberships.find(({ project }) => project === fallbackProject) ?? memberships[0];
}

/** The slug of the project that the dashboard shows. */
export function currentProject(): string {
  return membershipOf(sessionState())?.project ?? fallbackProject;
}

/** The role of the signed-in person in the shown project. */
export function useRole(): Role | undefined {
  return membershipOf(useSession())?.role;
}

/**
 * Why the signed-in person may not do something, as a sentence for the button that does it, or undefined when they may.
 * The API decides; this only explains beforehand.
 */
export function useBlocked(permission: Permission): string | undefined {
  const role = useRole();
  const needed = permissions[permission].role;
  if (role !== undefined && roles.indexOf(role) >= roles.indexOf(needed)) return undefined;
  return `This needs the role ${needed}. Yours is ${role ?? 'none'}.`;
}
