import { plainArray, textArray } from './array-literal.ts';
import { statements } from './generated/statements.ts';
import type { Queryable } from './queryable.ts';

/** What a worker takes as the payload of a type, in one version. */
export interface NewPayloadContract {
  readonly type: string;
  readonly version: number;
  /** A JSON Schema as JSON text; `undefined` when the type has none. */
  readonly schemaJson: string | undefined;
  /** Of the JSON Schema: the same for the same schema. Both or none. */
  readonly fingerprint: string | undefined;
}

/** Which version of which type's payload. */
export interface PayloadKey {
  readonly type: string;
  readonly version: number;
}

/** A version of a payload that some worker takes or took. */
export interface PayloadContract extends PayloadKey {
  readonly jsonSchema: unknown;
  readonly fingerprint: string | undefined;
  readonly firstSeenAt: Date;
  /** To the hour. */
  readonly lastSeenAt: Date;
}

/**
 * Notes what a worker takes; harmless when many do so at once. What was known with another schema has the given one now.
 *
 * @returns those whose schema was another one before
 */
export async function registerPayloadContracts(
  db: Queryable,
  request: { readonly projectId: string; readonly contracts: readonly NewPayloadContract[] },
): Promise<readonly PayloadKey[]> {
  const { projectId, contracts } = request;
  if (contracts.length === 0) return [];
  return db.query<PayloadKey>(statements.registerPayloadContracts, [
    projectId,
    textArray(contracts.map(({ type }) => type)),
    plainArray(contracts.map(({ version }) => version)),
    textArray(contracts.map(({ schemaJson }) => schemaJson)),
    textArray(contracts.map(({ fingerprint }) => fingerprint)),
  ]);
}

/** Every version that is known, by type. */
export async function listPayloadContracts(
  db: Queryable,
  projectId: string,
): Promise<readonly PayloadContract[]> {
  const rows = await db.query<{
    readonly type: string;
    readonly version: number;
    readonly json_schema: unknown;
    readonly fingerprint: string | null;
    readonly first_seen_at: Date;
    readonly last_seen_at: Date;
  }>(statements.listPayloadContracts, [projectId]);
  return rows.map((row) => ({
    type: row.type,
    version: row.version,
    jsonSchema: row.json_schema ?? undefined,
    fingerprint: row.fingerprint ?? undefined,
    firstSeenAt: row.first_seen_at,
    lastSeenAt: row.last_seen_at,
  }));
}

/** How many jobs have a payload that may still be run: those that wait, run, or rest in `failed`. */
export async function countWaitingPayloads(
  db: Queryable,
  projectId: string,
): Promise<readonly (PayloadKey & { readonly jobCount: number })[]> {
  const rows = await db.query<PayloadKey & { readonly job_count: number }>(
    statements.countWaitingPayloads,
    [projectId],
  );
  return rows.map(({ type, version, job_count: jobCount }) => ({ type, version, jobCount }));
}

/** The payload of a job that may still be run. */
export interface WaitingPayload extends PayloadKey {
  /** The id of the job. */
  readonly id: string;
  readonly payloadJson: string;
}

/** Reads such payloads of some versions of types by the ids of their jobs, a page after `afterId`. */
export async function listWaitingPayloads(
  db: Queryable,
  request: {
    readonly projectId: string;
    /** Which ones, see `claimName`. */
    readonly names: readonly string[];
    readonly afterId: string | undefined;
    readonly limit: number;
  },
): Promise<readonly WaitingPayload[]> {
  const { projectId, names, afterId, limit } = request;
  const rows = await db.query<PayloadKey & { readonly id: string; readonly payload: string }>(
    statements.listWaitingPayloads,
    [projectId, afterId ?? null, limit, textArray(names)],
  );
  return rows.map(({ id, type, version, payload }) => ({
    ...{ id, type, version },
    payloadJson: payload,
  }));
}
