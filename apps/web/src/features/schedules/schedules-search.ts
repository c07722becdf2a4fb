import { present, readOneOf, readText } from '../../format/search-params.ts';
import type { RawSearch } from '../../format/search-params.ts';

/** Whether the dialog for a new schedule is open, and which schedule's history is shown. */
export function readSchedulesSearch(raw: RawSearch) {
  return present({
    dialog: readOneOf(raw['dialog'], ['create']),
    history: readText(raw['history']),
  });
}
