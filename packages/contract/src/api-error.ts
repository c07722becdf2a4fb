import type { Problem } from './schemas/problem.ts';

/** An error answer of the API. `code` is stable; without a readable answer it is `http_<status>`. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly problem: Problem | undefined;
  readonly requestId: string | undefined;
  /** Milliseconds to wait before another try, where the API says so. */
  readonly retryAfterMs: number | undefined;

  constructor(response: Response, problem: Problem | undefined) {
    super(problem?.detail ?? problem?.title ?? `The API answered ${String(response.status)}`);
    this.name = 'ApiError';
    this.status = response.status;
    this.code = problem?.code ?? `http_${String(response.status)}`;
    this.problem = problem;
    this.requestId = problem?.requestId ?? response.headers.get('x-request-id') ?? undefined;
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = Number.isFinite(retryAfter) ? retryAfter * 1_000 : undefined;
  }

  /** Reads the answer's problem details. */
  static async from(response: Response): Promise<ApiError> {
    const text = await response.text();
    return new ApiError(response, parseProblem(text));
  }
}

// Checked by hand, not by the schema: zod's compiled parsers trip the dashboard's content security policy.
function parseProblem(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isProblem(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isProblem(value: unknown): value is Problem {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    'title' in value &&
    typeof value.title === 'string'
  );
}
