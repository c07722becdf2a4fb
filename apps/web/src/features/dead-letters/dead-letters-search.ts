import { present, readText } from '../../format/search-params.ts';
import type { RawSearch } from '../../format/search-params.ts';

/** Which dead letters are listed. */
export function readDeadLettersSearch(raw: RawSearch) {
  return present({
    queue: readText(raw['queue']),
    type: readText(raw['type']),
    fingerprint: readText(raw['fingerprint']),
    cursor: readText(raw['cursor'], 1_024),
  });
}
