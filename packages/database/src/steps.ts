import { statements } from './generated/statements.ts';
import type { Lease } from './leases.ts';
import type { Queryable } from './queryable.ts';

/** A step of a handler whose result is kept. */
export interface KeptStep {
  readonly name: string;
  /** Its place among the steps of the job, from 1. */
  readonly position: number;
  /** `undefined` for a step that gave nothing. */
  readonly resultJson: string | undefined;
}

/**
 * The steps that earlier executions kept, in their order.
 *
 * @returns `undefined` when the lease is lost.
 */
export async function listSteps(
  db: Queryable,
  request: { readonly projectId: string; readonly lease: Lease },
): Promise<readonly KeptStep[] | undefined> {
  const { projectId, lease } = request;
  const rows = await db.query<{
    readonly name: string | null;
    readonly position: number | null;
    readonly result: string | null;
  }>(statements.listSteps, [projectId, lease.id, lease.token]);
  if (rows.length === 0) return undefined;
  return rows.flatMap(({ name, position, result }) =>
    name === null || position === null ? [] : [{ name, position, resultJson: result ?? undefined }],
  );
}

/** Keeps the result of a step; false when the lease is lost. May be repeated. */
export async function recordStep(
  db: Queryable,
  request: { readonly projectId: string; readonly lease: Lease; readonly step: KeptStep },
): Promise<boolean> {
  const { projectId, lease, step } = request;
  const rows = await db.query(statements.recordStep, [
    projectId,
    lease.id,
    lease.token,
    step.name,
    step.position,
    step.resultJson ?? null,
  ]);
  return rows.length > 0;
}
