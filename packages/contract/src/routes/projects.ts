import { z } from 'zod';
import { needs, projectBase, route } from '../route.ts';
import { ApiKey, ApiKeyId, ApiKeyInput, CreatedApiKey } from '../schemas/api-keys.ts';
import { Name } from '../schemas/values.ts';
import { PageQuery, list, page } from '../schemas/paging.ts';
import { Project } from '../schemas/projects.ts';

/** The path parameter of everything in a project: its slug. */
export const ProjectParams = z.strictObject({ project: Name });

const KeyParams = ProjectParams.extend({ id: ApiKeyId });

/** Projects, and the keys by which machines speak for them. */
export const projectRoutes = {
  listProjects: route({
    method: 'get',
    path: '/api/v1/projects',
    tag: 'Projects',
    summary: 'The projects that the caller may see',
    access: { kind: 'signed_in' },
    query: z.strictObject({}),
    statuses: [200],
    response: list(Project),
  }),
  getProject: route({
    method: 'get',
    path: projectBase,
    tag: 'Projects',
    summary: 'One project',
    access: needs('project.read'),
    params: ProjectParams,
    statuses: [200],
    response: Project,
  }),
  listApiKeys: route({
    method: 'get',
    path: `${projectBase}/api-keys`,
    tag: 'API keys',
    summary: 'The API keys of the project, revoked ones too',
    access: needs('key.manage'),
    params: ProjectParams,
    query: PageQuery,
    statuses: [200],
    response: page(ApiKey),
  }),
  createApiKey: route({
    method: 'post',
    path: `${projectBase}/api-keys`,
    tag: 'API keys',
    summary: 'Create an API key; the answer is the only place that ever shows it',
    access: needs('key.manage'),
    params: ProjectParams,
    body: ApiKeyInput,
    statuses: [201],
    response: CreatedApiKey,
    idempotent: true,
  }),
  revokeApiKey: route({
    method: 'delete',
    path: `${projectBase}/api-keys/{id}`,
    tag: 'API keys',
    summary: 'Revoke an API key at once',
    access: needs('key.manage'),
    params: KeyParams,
    statuses: [204],
    response: undefined,
  }),
} as const;
