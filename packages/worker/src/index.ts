export { toAttemptError } from './attempt-error.ts';
export * from './handler.ts';
export * from './safe-json.ts';
export type { Stored } from './stored.ts';
export * from './thread/thread-handler.ts';
export * from './transaction-opener.ts';
export * from './worker-engine.ts';
export type * from './worker-observer.ts';
export * from './worker-options.ts';
