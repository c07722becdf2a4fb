/** `instanceof` for values of strangers: a proxy whose traps throw is no instance of anything. */
export function isInstanceOf<Instance>(
  value: unknown,
  constructor: abstract new (...args: never[]) => Instance,
): value is Instance {
  try {
    return value instanceof constructor;
  } catch {
    return false;
  }
}
