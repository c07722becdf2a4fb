import { present, readOneOf } from '../../format/search-params.ts';
import type { RawSearch } from '../../format/search-params.ts';

/** The span of the charts. */
export function readOverviewSearch(raw: RawSearch) {
  return present({ range: readOneOf(raw['range'], ['1h', '6h', '24h', '7d', '30d']) });
}
