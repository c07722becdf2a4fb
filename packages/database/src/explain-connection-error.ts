import { HoldfastError, databaseUnavailable, messageOfDriver } from '@holdfast/domain';
import { errorCodeOf, isConflict, isTransientError } from './transient-error.ts';

/** What to do about a server that does not let somebody in, by SQLSTATE. */
const hints: Readonly<Record<string, string>> = {
  '28P01': 'check user and password of the connection',
  '28000': 'check user, database and TLS of the connection',
  '3D000': 'create it, or check the database of the connection',
  '42501': 'connect as the role that owns the tables',
};

/** What the driver says without a code, in better words. */
const ofDriver = [
  [/client password must be a string/, 'the connection has no password, and the server wants one'],
  [/does not support SSL/, 'it speaks no TLS; leave that out, or switch it on in the server'],
] as const;

/**
 * An error of a call to the database in words for somebody who has just set up a connection; any other error as it is.
 *
 * @returns HoldfastError `database_refused` when the server does not let the program in, `database_unavailable` when
 * there is no answer; the `cause` is the driver's error
 */
export function explainConnectionError(error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  const refusal = refusalOf(error);
  if (refusal !== undefined) {
    const message = `The database does not let this program in: ${refusal}`;
    return new HoldfastError(message, { code: 'database_refused', cause: error });
  }
  return isTransientError(error) && !isConflict(error) ? databaseUnavailable(error) : error;
}

function refusalOf(error: unknown): string | undefined {
  const message = messageOfDriver(error);
  const hint = hints[errorCodeOf(error) ?? ''];
  if (hint !== undefined) return `${message}; ${hint}`;
  return ofDriver.find(([form]) => form.test(message))?.[1];
}
