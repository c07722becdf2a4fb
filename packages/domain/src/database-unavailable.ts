import { HoldfastError } from './errors.ts';

/** The error of a call to a database that gives no answer. Its `cause` is the driver's error. */
export function databaseUnavailable(cause: unknown): HoldfastError {
  const message = `The database cannot be reached: ${messageOfDriver(cause)}`;
  return new HoldfastError(message, { code: 'database_unavailable', cause });
}

/** What the driver says. A name that stands for several addresses fails once for each, and says nothing as a whole. */
export function messageOfDriver(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(messageOfDriver).join(', ');
  }
  return error instanceof Error ? error.message : String(error);
}
