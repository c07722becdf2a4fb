import { present, readOneOf, readText } from '../../format/search-params.ts';
import type { RawSearch } from '../../format/search-params.ts';

/** Where to go after the sign-in, and whether a one-time link was refused. */
export function readSignInSearch(raw: RawSearch) {
  const back = readText(raw['back']);
  return present({
    // Only a path of this site, so that a crafted link cannot send a person elsewhere.
    back: back !== undefined && /^\/(?![/\\])/.test(back) ? back : undefined,
    link: readOneOf(raw['link'], ['refused']),
  });
}
