import { latestSchemaVersion, readAppliedVersion } from '@holdfast/database';
import type { Dependencies } from './dependencies.ts';

/** One thing that must be well for the process to serve. */
export interface Readiness {
  readonly name: 'database' | 'schema' | 'draining';
  readonly ok: boolean;
  readonly detail: string | null;
}

/** Whether the process can serve: it is not stopping, the database answers within a second, its schema is ours. */
export async function readinessOf(deps: Dependencies): Promise<readonly Readiness[]> {
  const isDraining = deps.isDraining();
  const draining: Readiness = {
    name: 'draining',
    ok: !isDraining,
    detail: isDraining ? 'the process is stopping' : null,
  };
  try {
    await deps.watch.ping();
    const version = await deps.watch.guard(readAppliedVersion(deps.database));
    return [draining, { name: 'database', ok: true, detail: null }, schemaCheck(version)];
  } catch {
    return [draining, { name: 'database', ok: false, detail: 'does not answer' }];
  }
}

function schemaCheck(version: number): Readiness {
  const ok = version === latestSchemaVersion;
  const detail = `is at version ${String(version)}, needed is ${String(latestSchemaVersion)}`;
  return { name: 'schema', ok, detail: ok ? null : detail };
}
