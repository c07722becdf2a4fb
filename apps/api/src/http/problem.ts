import { errorCodes } from '@holdfast/domain';
import { problemStatuses } from './problem-statuses.ts';
import type { ProblemCode } from './problem-statuses.ts';

/** One thing that is wrong with a request; `pointer` is a JSON pointer, `?parameter` or the name of a header. */
export interface ProblemItem {
  readonly pointer: string;
  readonly detail: string;
}

/** What a problem may say beside its code. */
export interface ProblemOptions {
  /** A sentence about this one case; the catalogue's sentence when left out. */
  readonly detail?: string;
  readonly errors?: readonly ProblemItem[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem details, such as the status of a job. */
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** An answer that is an error: thrown anywhere in a request, written by the error handler as RFC 9457 says. */
export class HttpProblem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, options: ProblemOptions = {}) {
    super(options.detail ?? errorCodes[code], { cause: options.cause });
    this.name = 'HttpProblem';
    this.code = code;
    this.status = problemStatuses[code];
    this.options = options;
  }
}

/** The problem as the JSON of the answer. */
export function problemBody(problem: HttpProblem, requestId: string): Record<string, unknown> {
  return {
    type: `/docs/errors#${problem.code}`,
    title: errorCodes[problem.code],
    status: problem.status,
    code: problem.code,
    ...(problem.options.detail === undefined ? {} : { detail: problem.options.detail }),
    requestId,
    ...(problem.options.errors === undefined ? {} : { errors: problem.options.errors }),
    ...problem.options.extra,
  };
}

/** A request whose fields are wrong; every one of them is named. */
export function validationFailed(errors: readonly ProblemItem[]): HttpProblem {
  return new HttpProblem('validation_failed', { errors });
}
