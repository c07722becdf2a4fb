import { plainArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** What an API key may do. */
export type KeyScope = 'enqueue' | 'read' | 'manage';

/** An API key as listed. */
export interface ApiKeyRow {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

/** A new API key. */
export interface NewApiKey {
  readonly projectId: string;
  readonly id: string;
  readonly name: string;
  /** SHA-256 of the secret part. */
  readonly secretHash: Buffer;
  readonly scopes: readonly KeyScope[];
  readonly createdBy: string | undefined;
  readonly expiresAt: Date | undefined;
}

/** Stores a key; `undefined` when the id is taken. */
export async function insertApiKey(db: Queryable, key: NewApiKey): Promise<ApiKeyRow | undefined> {
  const [row] = await db.query<ApiKeyRow>(statements.insertApiKey, [
    key.projectId,
    key.id,
    key.name,
    key.secretHash,
    plainArray(key.scopes),
    key.createdBy ?? null,
    key.expiresAt ?? null,
  ]);
  return row;
}

/** The keys of a project by id, a page after the given one. */
export async function listApiKeys(
  db: Queryable,
  page: {
    readonly projectId: string;
    readonly afterId: string | undefined;
    readonly limit: number;
  },
): Promise<readonly ApiKeyRow[]> {
  const values = [page.projectId, page.afterId ?? null, page.limit];
  return db.query<ApiKeyRow>(statements.listApiKeys, values);
}

/** A key as presented, to be checked. */
export interface PresentedKeyRow {
  readonly project_id: string;
  readonly project_slug: string;
  readonly name: string;
  readonly secret_hash: Buffer;
  readonly scopes: readonly KeyScope[];
  /** Neither revoked nor over. */
  readonly valid: boolean;
}

/** The key with an id. */
export async function findApiKey(db: Queryable, id: string): Promise<PresentedKeyRow | undefined> {
  const [row] = await db.query<PresentedKeyRow>(statements.findApiKey, [id]);
  return row;
}

/** Notes that the key was used, at most once a minute. */
export async function touchApiKey(db: Queryable, id: string): Promise<void> {
  await db.query(statements.touchApiKey, [id]);
}

/** Revokes a key at once; false when the project has none with this id. */
export async function revokeApiKey(
  db: Queryable,
  key: { readonly projectId: string; readonly id: string },
): Promise<boolean> {
  const rows = await db.query(statements.revokeApiKey, [key.projectId, key.id]);
  return rows.length > 0;
}
