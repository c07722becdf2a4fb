import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** A project: the tenant that every key leads with. */
export interface Project {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly createdAt: Date;
}

/** Finds a project by its slug. */
export async function findProject(db: Queryable, slug: string): Promise<Project | undefined> {
  const [row] = await db.query<{
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly created_at: Date;
  }>(statements.findProject, [slug]);
  return row && { id: row.id, slug: row.slug, name: row.name, createdAt: row.created_at };
}
