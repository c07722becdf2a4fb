import { createHmac, timingSafeEqual } from 'node:crypto';
import { HttpProblem } from './problem.ts';

const macBytes = 16;
const lifeSeconds = 86_400;

/** What a cursor belongs to: it is refused in any other list, project or filter. */
export interface CursorScope {
  readonly list: string;
  readonly projectId: string;
  /** The filters of the list, without the page. */
  readonly filter?: unknown;
}

/** Makes and reads the opaque positions in lists. */
export interface Cursors {
  /** A cursor for the page after the given position. */
  write(scope: CursorScope, position: readonly string[]): string;
  /**
   * The position, or `undefined` without a cursor.
   *
   * @throws HttpProblem `cursor_invalid` for one that is forged, a day old, or of another list
   */
  read(scope: CursorScope, cursor: string | undefined): readonly string[] | undefined;
}

/** Cursors that are signed with the first key and verified with any. */
export function createCursors(keys: readonly Buffer[], nowMs: () => number): Cursors {
  const [signingKey] = keys;
  if (signingKey === undefined) throw new TypeError('At least one key is needed');
  const nowSeconds = () => Math.floor(nowMs() / 1_000);
  return {
    write(scope, position) {
      const body = Buffer.from(JSON.stringify([nowSeconds(), ...position]));
      return Buffer.concat([macOf(signingKey, scope, body), body]).toString('base64url');
    },
    read(scope, cursor) {
      if (cursor === undefined) return undefined;
      const bytes = Buffer.from(cursor, 'base64url');
      const body = bytes.subarray(macBytes);
      const mac = bytes.subarray(0, macBytes);
      if (mac.length < macBytes || !keys.some((key) => same(macOf(key, scope, body), mac))) {
        throw new HttpProblem('cursor_invalid');
      }
      // Signed by us, so it has the form that we gave it.
      const [issuedAt, ...position] = JSON.parse(body.toString()) as [number, ...string[]];
      if (issuedAt + lifeSeconds < nowSeconds()) throw new HttpProblem('cursor_invalid');
      return position;
    },
  };
}

function macOf(key: Buffer, scope: CursorScope, body: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([scope.list, scope.projectId, scope.filter ?? null]))
    .update('\0')
    .update(body)
    .digest()
    .subarray(0, macBytes);
}

function same(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
