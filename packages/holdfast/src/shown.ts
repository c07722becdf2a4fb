import { inspect } from 'node:util';

const maxLength = 40;

/** Whatever a caller has handed in, for an error's message: without running its code, and cut at 40 characters. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value.slice(0, maxLength)}"`;
  try {
    const options = { depth: 0, customInspect: false, maxStringLength: maxLength };
    return inspect(value, { ...options, breakLength: Infinity }).slice(0, maxLength);
  } catch {
    return `a ${typeof value} that cannot be read`;
  }
}

/** How a call is named in errors, with what it is about: `emit("order.paid")`. */
export function callWith(call: string, name: unknown): string {
  return `${call}(${typeof name === 'string' ? `"${name.slice(0, 128)}"` : shown(name)})`;
}
