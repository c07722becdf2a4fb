import { jobStatuses } from '@holdfast/domain';
import {
  present,
  readInstant,
  readManyOf,
  readOneOf,
  readText,
} from '../../format/search-params.ts';
import type { RawSearch } from '../../format/search-params.ts';

/** How far back "created" may reach. */
export const createdSpans = ['15m', '1h', '24h', '7d'] as const;

/** The filters of the list of jobs, the page, and whether the dialog for a new job is open. */
export function readJobsSearch(raw: RawSearch) {
  return present({
    status: readManyOf(raw['status'], jobStatuses),
    queue: readText(raw['queue']),
    type: readText(raw['type']),
    tag: readText(raw['tag']),
    text: readText(raw['text']),
    since: readOneOf(raw['since'], createdSpans),
    after: readInstant(raw['after']),
    before: readInstant(raw['before']),
    cursor: readText(raw['cursor'], 1_024),
    dialog: readOneOf(raw['dialog'], ['create']),
  });
}

/** The filters as they are in the URL. */
export type JobsSearch = ReturnType<typeof readJobsSearch>;

/** New values for some filters; undefined takes one away. */
export type JobsSearchChange = { readonly [K in keyof JobsSearch]?: JobsSearch[K] | undefined };
