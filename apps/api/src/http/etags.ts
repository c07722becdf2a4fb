import { HttpProblem } from './problem.ts';

const mostTries = 20;

/** The ETag of settings at a revision. */
export function etagOf(revision: string): string {
  return `"r${revision}"`;
}

/**
 * The revision that `If-Match` asks for; `undefined` when any will do.
 *
 * @throws HttpProblem `precondition_failed` for an ETag that was never ours
 */
function expectedRevision(ifMatch: string | undefined): string | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const [, revision] = /^"r(\d{1,18})"$/.exec(ifMatch.trim()) ?? [];
  if (revision === undefined) throw new HttpProblem('precondition_failed');
  return revision;
}

/**
 * Changes settings by what was just read of them. Without `If-Match` the caller does not mind that somebody else
 * changed them in between: they are read and changed again.
 *
 * @param change is given the revision that the caller asked for; answers `undefined` when another one was there
 * @throws HttpProblem `precondition_failed`
 */
export async function changeAtRevision<Result>(
  ifMatch: string | undefined,
  change: (asked: string | undefined) => Promise<Result | undefined>,
): Promise<Result> {
  const asked = expectedRevision(ifMatch);
  const tries = asked === undefined ? mostTries : 1;
  for (let at = 0; at < tries; at += 1) {
    const changed = await change(asked);
    if (changed !== undefined) return changed;
  }
  throw new HttpProblem('precondition_failed');
}
