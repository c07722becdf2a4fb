/** What every error of Holdfast carries: a stable code beside the sentence for people. */
export interface CodedErrorOptions {
  readonly code?: string;
  readonly cause?: unknown;
}

/** The base of Holdfast's own errors. `code` is stable; `message` may change. */
export class HoldfastError extends Error {
  readonly code: string;

  constructor(message: string, options: CodedErrorOptions & { readonly code: string }) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = options.code;
  }
}

/** Thrown by a handler to send the job to the dead letters at once, whatever attempts are left. */
export class NonRetryableError extends HoldfastError {
  constructor(message: string, options: CodedErrorOptions = {}) {
    super(message, { cause: options.cause, code: options.code ?? 'non_retryable' });
  }
}

/** Thrown by a handler that knows how long to wait. Counts as a failed attempt like any other error. */
export class RetryableError extends HoldfastError {
  /** Milliseconds to wait instead of the policy's backoff; clamped like any delay. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    options: CodedErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(message, { cause: options.cause, code: options.code ?? 'handler_failed' });
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The reason of a handler's abort signal when its lease is gone: nothing it writes from now on counts. */
export class LeaseLostError extends HoldfastError {
  constructor() {
    super('The lease on this job was lost; another worker may run it', { code: 'lease_lost' });
  }
}

/** Bad settings of a process or a call; the message lists every problem. Processes exit with code 78. */
export class ConfigError extends HoldfastError {
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause, code: 'config_invalid' });
  }
}
