import { ApiError } from '@holdfast/contract';

/** An error as a person reads it. */
export interface DescribedError {
  readonly title: string;
  readonly detail: string;
  /** The stable code, where the API gave one. */
  readonly code: string | undefined;
  /** Under which the server's log has the request. */
  readonly requestId: string | undefined;
  /** What was wrong with which field: JSON pointer and sentence. */
  readonly items: readonly { readonly pointer: string; readonly detail: string }[];
}

/** Puts any thrown value into words. */
export function describeError(error: unknown): DescribedError {
  if (error instanceof ApiError) return describeApiError(error);
  return {
    title: 'The server cannot be reached',
    detail: 'The request got no answer. The page tries again by itself.',
    code: undefined,
    requestId: undefined,
    items: [],
  };
}

function describeApiError(error: ApiError): DescribedError {
  const { problem } = error;
  return {
    title: problem?.title ?? `The server answered ${String(error.status)}`,
    detail: problem?.detail ?? 'The answer did not say more.',
    code: error.code,
    requestId: error.requestId,
    items: problem?.errors ?? [],
  };
}

/** Whether another try may succeed by itself: no answer, an overload, or a server's fault. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof ApiError) || error.status === 429 || error.status >= 500;
}

/** Whether the API says that the thing does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
