import { createHash } from 'node:crypto';
import type { UniqueScope } from '@holdfast/domain';

/** What names a unique key within a project. */
export interface UniqueName {
  readonly scope: UniqueScope;
  readonly key: string;
  /** The type of its job. */
  readonly type: string;
  /** The name of its job's queue. */
  readonly queue: string;
}

/**
 * The name of a key in `unique_locks`: SHA-256 in hexadecimal digits, as `holdfast.unique_digest` makes it. What the
 * scope names is preceded by its length, so that no two keys share a text.
 */
export function uniqueDigest({ scope, key, type, queue }: UniqueName): string {
  const owner = { type, queue, project: '' }[scope];
  const text = `${scope}:${String(Buffer.byteLength(owner))}:${owner}${key}`;
  return createHash('sha256').update(text).digest('hex');
}
