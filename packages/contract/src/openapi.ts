import { createDocument } from 'zod-openapi';
import type {
  ZodOpenApiObject,
  ZodOpenApiOverride,
  ZodOpenApiOperationObject,
  ZodOpenApiPathsObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import { permissions } from './permissions.ts';
import type { Access, Route } from './route.ts';
import { routes } from './routes.ts';
import { Problem } from './schemas/problem.ts';
import { requestHeaders } from './request-headers.ts';

/** The whole contract as an OpenAPI 3.1 document, made from the table of routes. */
export function createOpenApiDocument(): object {
  return createDocument(contractObject(), { override: simplify });
}

function contractObject(): ZodOpenApiObject {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Holdfast',
      version: '1',
      description: 'Durable background jobs on PostgreSQL. Errors are RFC 9457 problem details.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    components: {
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'A key of the form hf_live_…' },
      },
    },
    paths: createPaths(Object.entries(routes)),
  };
}

// Zod says of every integer that it is safe, and of every instant how to match it: true, but only noise for a reader.
const simplify: ZodOpenApiOverride = ({ jsonSchema }) => {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  // A number in a query is text or a number for zod, and an integer for everybody else.
  if (jsonSchema.type === 'integer') delete jsonSchema.anyOf;
};

function createPaths(entries: readonly (readonly [string, Route])[]): ZodOpenApiPathsObject {
  const paths: ZodOpenApiPathsObject = {};
  for (const [name, route] of entries) {
    paths[route.path] = { ...paths[route.path], [route.method]: createOperation(name, route) };
  }
  return paths;
}

function createOperation(name: string, route: Route): ZodOpenApiOperationObject {
  return {
    operationId: name,
    tags: [route.tag],
    summary: route.summary,
    description: describeAccess(route.access),
    security: securityOf(route.access),
    requestParams: {
      ...(route.params === undefined ? {} : { path: route.params }),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...requestHeaders(route),
    },
    ...(route.body === undefined ? {} : { requestBody: createRequestBody(route) }),
    responses: {
      ...Object.fromEntries(
        route.statuses.map((status) => [String(status), createResponse(route)]),
      ),
      default: {
        description: 'An error',
        content: { 'application/problem+json': { schema: Problem } },
      },
    },
  };
}

function createRequestBody(route: Route): NonNullable<ZodOpenApiOperationObject['requestBody']> {
  const { body, alsoAccepts } = route;
  return {
    required: true,
    content: {
      'application/json': body === undefined ? {} : { schema: body },
      ...(alsoAccepts === undefined ? {} : { [alsoAccepts]: { schema: { type: 'string' } } }),
    },
  };
}

function createResponse(route: Route): ZodOpenApiResponseObject {
  const description = 'Success';
  if (route.response === undefined) return { description };
  const type = route.responseType ?? 'application/json';
  return { description, content: { [type]: { schema: route.response } } };
}

function describeAccess(access: Access): string {
  if (access.kind !== 'project') {
    return {
      public: 'Open to everybody.',
      session_cookie: 'Needs the refresh cookie, from the same origin.',
      person: 'Needs an access token.',
      signed_in: 'Needs an access token or an API key.',
    }[access.kind];
  }
  const { role, scope } = permissions[access.permission];
  const keys = scope === null ? 'API keys may not.' : `API keys need the scope \`${scope}\`.`;
  return `Needs the role \`${role}\` or higher in the project. ${keys}`;
}

function securityOf(access: Access): Record<string, string[]>[] {
  switch (access.kind) {
    case 'public':
    case 'session_cookie':
      return [];
    case 'person':
      return [{ accessToken: [] }];
    case 'signed_in':
      return [{ accessToken: [] }, { apiKey: [] }];
    case 'project':
      return permissions[access.permission].scope === null
        ? [{ accessToken: [] }]
        : [{ accessToken: [] }, { apiKey: [] }];
  }
}
