/** What a process of Holdfast says by its exit code; numbers follow sysexits(3) and the shell's 128 + signal. */
export const exitCodes = {
  ok: 0,
  failure: 1,
  /** The database cannot be reached, or its version is not supported. */
  unavailable: 69,
  /** Half of a worker's slots hold handlers that ignore their abort signal; a new process can go on. */
  slotsStuck: 70,
  /** The configuration is invalid; every problem was listed. */
  config: 78,
  /** A second SIGINT cut the drain short. */
  interrupted: 130,
  /** A second SIGTERM cut the drain short. */
  terminated: 143,
} as const;

const exitCodeByErrorCode: Readonly<Record<string, number>> = {
  config_invalid: exitCodes.config,
  database_refused: exitCodes.config,
  database_unavailable: exitCodes.unavailable,
  database_unsupported: exitCodes.unavailable,
  schema_outdated: exitCodes.unavailable,
  schema_too_new: exitCodes.unavailable,
};

/** The exit code for an error that ended a process: by the error's own `code`, else 1. */
export function exitCodeOf(error: unknown): number {
  const isCoded = typeof error === 'object' && error !== null && 'code' in error;
  return (isCoded ? exitCodeByErrorCode[String(error.code)] : undefined) ?? exitCodes.failure;
}
