import { HttpProblem } from './problem.ts';

/** The ETag of settings at a revision. */
export function etagOf(revision: string): string {
  return `"r${revision}"`;
}

/**
 * The revision that `If-Match` asks for; `undefined` when any will do.
 *
 * @throws HttpProblem `precondition_failed` for an ETag that was never ours
 */
export function expectedRevision(ifMatch: string | undefined): string | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  const [, revision] = /^"r(\d{1,18})"$/.exec(ifMatch.trim()) ?? [];
  if (revision === undefined) throw new HttpProblem('precondition_failed');
  return revision;
}
