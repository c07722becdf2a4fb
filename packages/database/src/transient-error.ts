const transientStates = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '55P03', // lock_not_available
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  '53400', // configuration_limit_exceeded
  '57014', // query_canceled, by a statement timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '25006', // read_only_sql_transaction: a standby, until the failover is over
]);

const transientSystemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
]);

const conflictStates = new Set(['40001', '40P01', '55P03']);

/** The SQLSTATE or system code of an error, if it has one. */
export function errorCodeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Whether the same call may succeed later: the connection broke, the server is starting, a conflict, a timeout. */
export function isTransientError(error: unknown): boolean {
  const code = errorCodeOf(error);
  if (code !== undefined && code.length > 0) {
    return transientStates.has(code) || transientSystemCodes.has(code) || code.startsWith('08');
  }
  return (
    error instanceof Error &&
    /connection (terminated|timeout|ended|closed)|timeout exceeded|read timeout|client was closed|not queryable/i.test(
      error.message,
    )
  );
}

/** Whether the server ended the statement because it took too long. */
export function isStatementTimeout(error: unknown): boolean {
  return errorCodeOf(error) === '57014';
}

/** Whether two transactions got in each other's way; the whole transaction may simply run again. */
export function isConflict(error: unknown): boolean {
  return conflictStates.has(errorCodeOf(error) ?? '');
}

const maxTries = 5;

/** Does something again, at most five times, as long as another transaction gets in its way. */
export async function retryConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= maxTries || !isConflict(error)) throw error;
    }
  }
}
