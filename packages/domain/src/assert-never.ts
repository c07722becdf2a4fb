/** Marks the end of an exhaustive switch: the compiler refuses a case that was forgotten. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
