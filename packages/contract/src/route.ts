import type { z } from 'zod';
import type { Permission } from './permissions.ts';

/**
 * What a request must bring.
 *
 * - `public`: nothing.
 * - `session_cookie`: the refresh cookie, from the dashboard's own origin.
 * - `person`: an access token, also of somebody who must change the password first.
 * - `signed_in`: an access token or an API key.
 * - `project`: an access token of a member, or an API key of the project, with the permission.
 */
export type Access =
  | { readonly kind: 'public' | 'session_cookie' | 'person' | 'signed_in' }
  | { readonly kind: 'project'; readonly permission: Permission };

/** One route of the API as data: the server, the OpenAPI document and the client are made from it. */
export interface Route {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** The whole path, with `{name}` for parameters. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly access: Access;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The statuses of success, the usual one first. */
  readonly statuses: readonly [number, ...number[]];
  /** `undefined` for an answer without content. */
  readonly response: z.ZodType | undefined;
  /** What the answer is, when it is not JSON. */
  readonly responseType?: 'text/plain' | 'text/html' | 'text/event-stream';
  /** Whether the request may carry an `Idempotency-Key`. */
  readonly idempotent?: true;
  /** `answered`: the answer has an ETag. `checked`: the request may carry `If-Match` too. */
  readonly etag?: 'answered' | 'checked';
  /** Body forms beside JSON. */
  readonly alsoAccepts?: 'application/x-ndjson';
}

/** Keeps the exact type of a route. */
export function route<const R extends Route>(definition: R): R {
  return definition;
}

/** Where everything of a project is. */
export const projectBase = '/api/v1/projects/{project}';

/** Access with a permission in the project of the path. */
export function needs<const P extends Permission>(permission: P) {
  return { kind: 'project', permission } as const;
}
