export { EmbeddedPostgresError } from './embedded-postgres-error.ts';
export { freePort } from './free-port.ts';
export { removeDataDirectory } from './remove-data-directory.ts';
export { startPostgres } from './start-postgres.ts';
export type { EmbeddedPostgresErrorCode } from './embedded-postgres-error.ts';
export type { StopMode } from './server-process.ts';
export type { EmbeddedPostgres, StartPostgresOptions } from './start-postgres.ts';
