import { HoldfastError, NonRetryableError } from './errors.ts';

/** One thing that is wrong with a payload. */
export interface PayloadIssue {
  /** A JSON pointer into the payload; empty for the whole of it. */
  readonly pointer: string;
  readonly message: string;
}

/**
 * The payload is not what its type's schema wants, or is nothing that JSON and PostgreSQL can hold. At enqueue nothing
 * was written; before a run the job becomes a dead letter at once, since trying again would not help.
 */
export class PayloadInvalidError extends NonRetryableError {
  /** The type of the job. */
  readonly type: string;
  /** Everything that was found, at least one. */
  readonly issues: readonly PayloadIssue[];

  constructor(type: string, issues: readonly PayloadIssue[]) {
    super(`The payload of "${type}" is not valid: ${issues.map(sentenceOf).join('; ')}`, {
      code: 'payload_invalid',
    });
    this.type = type;
    this.issues = issues;
  }
}

function sentenceOf({ pointer, message }: PayloadIssue): string {
  return pointer === '' ? message : `${pointer}: ${message}`;
}

/** The payload has more bytes of JSON than allowed; nothing was written. */
export class PayloadTooLargeError extends HoldfastError {
  /** The type of the job. */
  readonly type: string;
  readonly limitBytes: number;

  constructor(type: string, limitBytes: number) {
    super(
      `The payload of "${type}" has more than ${String(limitBytes)} bytes of JSON; store large data elsewhere and send a reference`,
      { code: 'payload_too_large' },
    );
    this.type = type;
    this.limitBytes = limitBytes;
  }
}
