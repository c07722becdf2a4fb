/** Why the embedded server could not be started; each has its own way out. */
export type EmbeddedPostgresErrorCode =
  | 'embedded_postgres_data_dir_in_use'
  | 'embedded_postgres_data_dir_unusable'
  | 'embedded_postgres_failed_to_start'
  | 'embedded_postgres_unsupported_platform'
  | 'embedded_postgres_wrong_version';

/** The embedded server could not be prepared, started or stopped. The message says what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
