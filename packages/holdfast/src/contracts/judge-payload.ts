import { jsonPointer } from '@holdfast/domain';
import type { JobDefinition } from '../job-definition.ts';
import { versionsOf } from '../payload-versions.ts';
import { issueKeys } from '../validate-payload.ts';
import type { Refusal } from './contract-report.ts';

/** Why a build does not take a payload, without the job. */
export type Judgement = Omit<Refusal, 'count' | 'jobId'>;

/** What a definition makes of a stored payload: `undefined` when it takes it. Runs its upgrades. */
export async function judgePayload(
  definition: JobDefinition,
  stored: { readonly version: number; readonly payloadJson: string },
): Promise<Judgement | undefined> {
  const { schema, version, upgrades } = definition;
  if (!versionsOf(definition).includes(stored.version)) return { reason: 'version_not_supported' };
  let payload: unknown = JSON.parse(stored.payloadJson);
  for (let from = stored.version; from < version; from += 1) {
    try {
      payload = await upgrades[from]?.(payload);
    } catch (error) {
      return { reason: 'upgrade_failed', upgradeFrom: from, error: nameOf(error) };
    }
  }
  if (schema === undefined) return undefined;
  try {
    const { issues } = await schema['~standard'].validate(payload);
    if (issues === undefined) return undefined;
    const [issue] = issues;
    return {
      reason: 'schema_refused',
      path: jsonPointer(issue === undefined ? [] : issueKeys(issue)),
    };
  } catch (error) {
    return { reason: 'schema_failed', error: nameOf(error) };
  }
}

/** Its message may quote the payload. */
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
