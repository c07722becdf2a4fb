import { permissions, roles } from '@holdfast/contract';
import type { Access, Permission } from '@holdfast/contract';
import { findApiKey, readPersonAccess } from '@holdfast/database';
import type { Request } from 'express';
import { apiKeyPrefix, isSameHash, parseApiKey } from '../auth/api-keys.ts';
import type { Dependencies } from '../dependencies.ts';
import type { CallProject } from './call.ts';
import type { Principal } from './principal.ts';
import { HttpProblem } from './problem.ts';

/** What the credentials of a request allow. */
export interface Granted {
  readonly principal: Principal | undefined;
  readonly project: CallProject | undefined;
}

interface Identity {
  readonly principal: Principal;
  /** The project of the path, when the caller may know of it. */
  readonly project: CallProject | undefined;
  readonly mustChangePassword: boolean;
}

/**
 * Checks who calls and whether they may. The tenant comes from the credential and the path alone.
 *
 * @throws HttpProblem 401 without valid credentials, 404 for a project of others, 403 for too little
 */
export async function authorise(
  deps: Dependencies,
  access: Access,
  request: { readonly headers: Request['headers']; readonly project: string | undefined },
): Promise<Granted> {
  if (access.kind === 'public' || access.kind === 'session_cookie') {
    return { principal: undefined, project: undefined };
  }
  const identity = await identify(deps, bearerOf(request.headers.authorization), request.project);
  if (access.kind === 'person') {
    if (identity.principal.kind !== 'person') throw new HttpProblem('forbidden');
    return identity;
  }
  if (identity.mustChangePassword) throw new HttpProblem('password_change_required');
  if (access.kind === 'project') {
    if (identity.project === undefined) throw new HttpProblem('project_not_found');
    requirePermission(identity.principal, access.permission);
  }
  return identity;
}

function bearerOf(header: string | undefined): string {
  const [, token] = /^Bearer ([\x21-\x7e]+)$/i.exec(header ?? '') ?? [];
  if (token === undefined) throw unauthenticated();
  return token;
}

async function identify(
  deps: Dependencies,
  token: string,
  project: string | undefined,
): Promise<Identity> {
  const identity = token.startsWith(apiKeyPrefix)
    ? await identifyKey(deps, token, project)
    : await identifyPerson(deps, token, project);
  if (identity === undefined) throw unauthenticated();
  return identity;
}

async function identifyPerson(
  { database, tokens }: Dependencies,
  token: string,
  project: string | undefined,
): Promise<Identity | undefined> {
  const subject = await tokens.verify(token);
  if (subject === undefined) return undefined;
  const row = await readPersonAccess(database, { ...subject, project });
  if (row === undefined) return undefined;
  const { project_id: id, project_slug: slug, role } = row;
  return {
    principal: { kind: 'person', ...subject, email: row.email, role: role ?? undefined },
    // A project that the person is no member of does not exist for them.
    project: id === null || slug === null || role === null ? undefined : { id, slug },
    mustChangePassword: row.password_change_required,
  };
}

async function identifyKey(
  { database, keyUses }: Dependencies,
  token: string,
  project: string | undefined,
): Promise<Identity | undefined> {
  const parts = parseApiKey(token);
  if (parts === undefined) return undefined;
  const row = await findApiKey(database, parts.id);
  if (row?.valid !== true || !isSameHash(row.secret_hash, parts.secretHash)) return undefined;
  keyUses.record(parts.id);
  return {
    principal: {
      kind: 'key',
      keyId: parts.id,
      name: row.name,
      projectId: row.project_id,
      projectSlug: row.project_slug,
      scopes: row.scopes,
    },
    project:
      row.project_slug === project ? { id: row.project_id, slug: row.project_slug } : undefined,
    mustChangePassword: false,
  };
}

function requirePermission(principal: Principal, permission: Permission): void {
  const { role, scope } = permissions[permission];
  const isAllowed =
    principal.kind === 'person'
      ? principal.role !== undefined && roles.indexOf(principal.role) >= roles.indexOf(role)
      : scope !== null && (principal.scopes.includes(scope) || principal.scopes.includes('manage'));
  if (isAllowed) return;
  const detail =
    principal.kind === 'person'
      ? `This needs the role ${role}`
      : scope === null
        ? 'API keys may not do this'
        : `This needs the scope ${scope}`;
  throw new HttpProblem('forbidden', { detail });
}

function unauthenticated(): HttpProblem {
  return new HttpProblem('unauthenticated', { headers: { 'www-authenticate': 'Bearer' } });
}
