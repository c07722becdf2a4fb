import type { ApiKeyScope, Role } from '@holdfast/contract';

/** Who makes a request. */
export type Principal =
  | {
      readonly kind: 'person';
      readonly userId: string;
      readonly sessionId: string;
      readonly email: string;
      /** The role in the project of the request; `undefined` outside of one. */
      readonly role: Role | undefined;
    }
  | {
      readonly kind: 'key';
      readonly keyId: string;
      readonly name: string;
      readonly projectId: string;
      readonly projectSlug: string;
      readonly scopes: readonly ApiKeyScope[];
    };

/** The name under which an action is recorded, such as in the reason of a pause. */
export function nameOf(principal: Principal): string {
  return principal.kind === 'person' ? principal.email : `key:${principal.name}`;
}
