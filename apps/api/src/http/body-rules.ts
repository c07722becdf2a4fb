import { maxBulkJobs, routes } from '@holdfast/contract';
import type { Route } from '@holdfast/contract';
import { jobBytes, ordinaryBody } from './parse-body.ts';
import type { BodyRules } from './parse-body.ts';
import { ordinaryJsonLimits } from './scan-json.ts';

const signInBytes = 16 * 1024;
const bulkBytes = 16 * 1024 * 1024;

/** What is sent there is or becomes a payload. */
const jobTags: ReadonlySet<string> = new Set(['Jobs', 'Events']);

const bulkRules: BodyRules = {
  limitBytes: bulkBytes,
  // Each job is held to the ordinary limits once it is read.
  json: { ...ordinaryJsonLimits, maxKeys: maxBulkJobs * 50 },
  mayBeEmpty: false,
  mayBeLines: true,
};

/** A batch may have as many jobs as a bulk request. */
const batchRules: BodyRules = { ...bulkRules, mayBeLines: false };

/** The rules of a route's body: how large, and whether it may be left out. */
export function bodyRulesOf(route: Route): BodyRules {
  if (route.path === routes.enqueueJobs.path) return bulkRules;
  if (route.tag === routes.createBatch.tag && route.idempotent === true) return batchRules;
  return {
    ...ordinaryBody,
    limitBytes: limitOf(route),
    // An action without options needs no body; a cookie route must have one, since forms cannot send JSON.
    mayBeEmpty: route.access.kind === 'project' && route.body?.safeParse({}).success === true,
  };
}

function limitOf(route: Route): number {
  if (route.path.startsWith('/api/v1/auth/')) return signInBytes;
  return jobTags.has(route.tag) ? jobBytes : ordinaryBody.limitBytes;
}
