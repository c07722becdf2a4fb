import type { ApiKeyScope } from './schemas/api-keys.ts';
import type { Role } from './schemas/auth.ts';

/** Who may do something: people from a role upwards, and API keys with a scope (`null`: no key may). */
export interface Requirement {
  readonly role: Role;
  readonly scope: ApiKeyScope | null;
}

/** Every permission that a route may ask for, and who has it. */
export const permissions = {
  'project.read': { role: 'viewer', scope: 'read' },
  'job.enqueue': { role: 'operator', scope: 'enqueue' },
  'job.manage': { role: 'operator', scope: 'manage' },
  'queue.operate': { role: 'operator', scope: 'manage' },
  'queue.configure': { role: 'admin', scope: 'manage' },
  'schedule.operate': { role: 'operator', scope: 'manage' },
  'schedule.configure': { role: 'operator', scope: 'manage' },
  'event.configure': { role: 'operator', scope: 'manage' },
  'worker.operate': { role: 'operator', scope: 'manage' },
  'key.manage': { role: 'admin', scope: null },
} as const satisfies Record<string, Requirement>;

/** The name of a permission. */
export type Permission = keyof typeof permissions;
