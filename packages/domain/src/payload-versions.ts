import { jobLimits } from './job-limits.ts';

/** Whether it can be the version of a payload. */
export function isPayloadVersion(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= jobLimits.payloadVersion;
}

/**
 * What a worker that takes payloads of this version claims by, and shows: the type alone for version 1, which is also that
 * of jobs that say nothing of versions, else `type@version`. No type has an `@`.
 */
export function claimName(type: string, version: number): string {
  return version === 1 ? type : `${type}@${String(version)}`;
}

/** The other way round. */
export function readClaimName(name: string): { readonly type: string; readonly version: number } {
  const [type = '', version = '1'] = name.split('@');
  return { type, version: Number(version) };
}
