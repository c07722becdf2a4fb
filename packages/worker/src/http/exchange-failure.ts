import { NonRetryableError, RetryableError } from '@holdfast/domain';

/**
 * What can go wrong before an answer is judged by its status. The sentences are all that the job's owner is told: they
 * must not tell a refused port from a closed or a filtered one.
 */
const failures = {
  connect_failed: { retryable: true, message: 'No connection to the destination could be made' },
  connection_lost: { retryable: true, message: 'The connection ended before the answer did' },
  deadline_exceeded: { retryable: true, message: 'The answer was not complete in time' },
  egress_denied: { retryable: false, message: 'The egress policy does not allow this destination' },
  redirect_refused: {
    retryable: false,
    message: 'The destination redirects, which is not followed',
  },
  response_encoding_refused: {
    retryable: false,
    message: 'The answer has a content encoding that is not accepted',
  },
  response_invalid: { retryable: true, message: 'The answer is not valid HTTP' },
  response_too_large: { retryable: false, message: 'The answer is larger than allowed' },
  tls_failed: { retryable: true, message: 'No trusted TLS connection could be made' },
} as const satisfies Record<string, { readonly retryable: boolean; readonly message: string }>;

/** The code of a failure of the exchange itself. */
export type ExchangeFailureCode = keyof typeof failures;

/** A failure of the exchange, with the detail that only the operator may see. Never leaves this folder. */
export class ExchangeFailure extends Error {
  readonly code: ExchangeFailureCode;
  readonly detail: string;

  constructor(code: ExchangeFailureCode, detail: string) {
    super(failures[code].message);
    this.name = 'ExchangeFailure';
    this.code = code;
    this.detail = detail;
  }
}

/**
 * The error that the job gets. It is made here and without a cause, so that neither its stack nor its cause says which
 * gate refused or what the socket reported.
 */
export function publicError(code: ExchangeFailureCode): NonRetryableError | RetryableError {
  const { retryable, message } = failures[code];
  return retryable
    ? new RetryableError(message, { code })
    : new NonRetryableError(message, { code });
}

/**
 * Names what undici or the socket reported, once the connection stood.
 *
 * @returns `undefined` for an error that neither of them makes: a mistake of our own, which must not be disguised.
 */
export function classifyExchangeError(error: unknown): ExchangeFailure | undefined {
  if (error instanceof ExchangeFailure) return error;
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new ExchangeFailure('response_too_large', code);
  if (error.name === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return new ExchangeFailure('response_invalid', code);
  }
  return lostConnectionCodes.test(code) ? new ExchangeFailure('connection_lost', code) : undefined;
}

/** Of undici, of the operating system, of OpenSSL and of a stream that ended without its end. */
const lostConnectionCodes =
  /^(?:UND_ERR_[A-Z_]+|E[A-Z]+|ERR_SSL_[A-Z0-9_]+|ERR_STREAM_PREMATURE_CLOSE)$/;
