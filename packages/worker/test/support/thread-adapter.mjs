/** What a library that wraps handlers gives to the thread. */
export function adaptHandler(found, type) {
  return async (payload, context) => ({ type, found: await found.run(payload, context) });
}
