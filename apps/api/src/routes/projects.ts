import type { Project, RouteName } from '@holdfast/contract';
import { findProject, listProjectsOfUser } from '@holdfast/database';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { HttpProblem } from '../http/problem.ts';
import { presentInstant } from '../presenters/instant.ts';

type ProjectRoute = Extract<RouteName, 'listProjects' | 'getProject'>;

/** Projects as their members and keys see them. */
export function projectHandlers({ database }: Dependencies): Handlers<ProjectRoute> {
  const read = async (slug: string, role: Project['role']): Promise<Project> => {
    const project = await findProject(database, slug);
    if (project === undefined) throw new HttpProblem('project_not_found');
    const { id, name, createdAt } = project;
    return { id, slug, name, role, createdAt: presentInstant(createdAt) };
  };

  return {
    async listProjects({ principal }) {
      if (principal.kind === 'key') {
        return { body: { data: [await read(principal.projectSlug, null)] } };
      }
      const rows = await listProjectsOfUser(database, principal.userId);
      const data = rows.map(({ id, slug, name, role, created_at }) => ({
        id,
        slug,
        name,
        role,
        createdAt: presentInstant(created_at),
      }));
      return { body: { data } };
    },

    async getProject({ principal, project }) {
      const role = principal.kind === 'person' ? (principal.role ?? null) : null;
      return { body: await read(project.slug, role) };
    },
  };
}
