/** Whether PostgreSQL can store the text: it keeps no NUL, and UTF-8 has no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !/[\0\p{Surrogate}]/u.test(text);
}
