import type { ApiKey, CreatedApiKey, RouteName } from '@holdfast/contract';
import { insertApiKey, listApiKeys, revokeApiKey } from '@holdfast/database';
import type { ApiKeyRow } from '@holdfast/database';
import { apiKeyPrefix, deriveApiKey, makeApiKey } from '../auth/api-keys.ts';
import type { NewKey } from '../auth/api-keys.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Call, Handlers } from '../http/call.ts';
import { requireNotFar } from '../http/clock-checks.ts';
import { idempotencyKeyOf, once } from '../http/idempotency.ts';
import { HttpProblem } from '../http/problem.ts';
import { pageOf } from '../http/page.ts';
import { presentInstant, presentMaybe } from '../presenters/instant.ts';

type ApiKeyRoute = Extract<RouteName, 'listApiKeys' | 'createApiKey' | 'revokeApiKey'>;

/** The keys of a project's machines. */
export function apiKeyHandlers(deps: Dependencies): Handlers<ApiKeyRoute> {
  const { database, cursors } = deps;
  return {
    async listApiKeys({ project, query }) {
      const scope = { list: 'api-keys', projectId: project.id };
      const [afterId] = cursors.read(scope, query.cursor) ?? [];
      const { limit } = query;
      const rows = await listApiKeys(database, {
        projectId: project.id,
        afterId,
        limit: limit + 1,
      });
      const position = (row: ApiKeyRow) => cursors.write(scope, [row.id]);
      return { body: pageOf(rows, limit, { present: presentKey, position }) };
    },

    async createApiKey(call) {
      const made = newKeyFor(deps, call);
      const expiresAt = requireNotFar(call.body.expiresAt, {
        pointer: '/expiresAt',
        clock: deps.clock,
      });
      const { status, headers, body } = await once(database, call, async (tx) => {
        const row = await insertApiKey(tx, {
          projectId: call.project.id,
          id: made.id,
          name: call.body.name,
          secretHash: made.secretHash,
          scopes: call.body.scopes,
          createdBy: call.principal.kind === 'person' ? call.principal.userId : undefined,
          expiresAt,
        });
        if (row === undefined) throw new HttpProblem('overloaded');
        return { status: 201, body: presentKey(row) };
      });
      // Added outside of what is kept for a repetition, so that the key itself is stored nowhere.
      const created: CreatedApiKey = { ...body, key: made.key };
      return { status, headers: headers ?? {}, body: created };
    },

    async revokeApiKey({ project, params }) {
      const isRevoked = await revokeApiKey(database, { projectId: project.id, id: params.id });
      if (!isRevoked) throw new HttpProblem('api_key_not_found');
      return { body: undefined };
    },
  };
}

function newKeyFor(deps: Dependencies, call: Call<'createApiKey'>): NewKey {
  const key = idempotencyKeyOf(call.request);
  if (key === undefined) return makeApiKey();
  return deriveApiKey(deps.keys.apiKeys, [call.project.id, key, call.bodyBytes.toString('base64')]);
}

function presentKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: `${apiKeyPrefix}${row.id}`,
    scopes: row.scopes,
    createdAt: presentInstant(row.created_at),
    lastUsedAt: presentMaybe(row.last_used_at),
    expiresAt: presentMaybe(row.expires_at),
    revokedAt: presentMaybe(row.revoked_at),
  };
}
