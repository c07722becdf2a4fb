import { z } from 'zod';
import { route } from '../route.ts';
import { JsonObject } from '../schemas/values.ts';
import { Livez, Readyz, Status } from '../schemas/health.ts';

const tag = 'Health';
const open = { method: 'get', tag, access: { kind: 'public' }, statuses: [200] } as const;

/** Health of this process and of the installation, and the contract itself. */
export const healthRoutes = {
  getLivez: route({ ...open, path: '/livez', summary: 'The process answers', response: Livez }),
  getReadyz: route({
    ...open,
    path: '/readyz',
    summary: 'The process can serve: 200, else 503',
    response: Readyz,
  }),
  getStatus: route({
    ...open,
    path: '/status',
    summary: 'Durability of the database, versions, clock skew',
    access: { kind: 'signed_in' },
    response: Status,
  }),
  getMetrics: route({
    ...open,
    path: '/metrics',
    summary: 'Figures in the Prometheus text format',
    response: z.string(),
    responseType: 'text/plain',
  }),
  getOpenApi: route({
    ...open,
    path: '/openapi.json',
    summary: 'This contract as OpenAPI 3.1',
    response: JsonObject,
  }),
} as const;
