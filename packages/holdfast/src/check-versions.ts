import { isPayloadVersion, jobLimits } from '@holdfast/domain';
import type { OptionCheck } from './check-options.ts';
import { shown } from './shown.ts';

/** Notes what is wrong with the version and the upgrades of a definition. */
export function checkVersions(check: OptionCheck, version: unknown, upgrades: unknown): void {
  const newest = version ?? 1;
  if (version === null || !isPayloadVersion(newest)) {
    const most = String(jobLimits.payloadVersion);
    check.refuse(`version must be a whole number from 1 to ${most}, not ${shown(version)}`);
    return;
  }
  if (upgrades === undefined) return;
  if (typeof upgrades !== 'object' || upgrades === null || Array.isArray(upgrades)) {
    check.refuse('upgrades must be an object of functions by version');
    return;
  }
  const known = new Set(Object.keys(upgrades));
  for (const [from, upgrade] of Object.entries(upgrades)) {
    if (typeof upgrade !== 'function') check.refuse(`upgrades.${from} must be a function`);
    checkBegin(check, from, { newest, known });
  }
}

function checkBegin(
  check: OptionCheck,
  from: string,
  { newest, known }: { readonly newest: number; readonly known: ReadonlySet<string> },
): void {
  const to = Number(from) + 1;
  if (!/^[1-9]\d{0,4}$/.test(from) || to > newest) {
    check.refuse(`upgrades.${from} must begin with a version below ${String(newest)}`);
  } else if (to < newest && !known.has(String(to))) {
    const lacking = `nothing leads from version ${from} to ${String(newest)}`;
    check.refuse(`upgrades.${String(to)} is missing, so that ${lacking}`);
  }
}
