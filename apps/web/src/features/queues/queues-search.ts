import { present, readOneOf } from '../../format/search-params.ts';
import type { RawSearch } from '../../format/search-params.ts';

/** Whether the dialog for a new queue is open. */
export function readQueuesSearch(raw: RawSearch) {
  return present({ dialog: readOneOf(raw['dialog'], ['create']) });
}
