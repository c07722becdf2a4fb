/** A JSON pointer (RFC 6901) to the value that the keys lead to; empty for the whole document. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
