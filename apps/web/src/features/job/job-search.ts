import { present, readOneOf } from '../../format/search-params.ts';
import type { RawSearch } from '../../format/search-params.ts';

/** The tabs of a job's page. */
export const jobTabs = ['payload', 'result', 'errors', 'logs', 'details'] as const;

/** One of the tabs. */
export type JobTab = (typeof jobTabs)[number];

/** Which tab is open. */
export function readJobSearch(raw: RawSearch) {
  return present({ tab: readOneOf(raw['tab'], jobTabs) });
}
