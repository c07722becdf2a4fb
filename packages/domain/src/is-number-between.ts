/** Whether a value of unknown origin is a number within bounds, both included. */
export function isNumberBetween(value: unknown, least: number, most: number): value is number {
  return typeof value === 'number' && value >= least && value <= most;
}

/** Whether a value of unknown origin is a whole number within bounds, both included. */
export function isWholeBetween(value: unknown, least: number, most: number): value is number {
  return isNumberBetween(value, least, most) && Number.isInteger(value);
}
