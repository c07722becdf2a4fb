import type { z } from 'zod';
import { HttpProblem, validationFailed } from './problem.ts';
import type { ProblemItem } from './problem.ts';
import { hasForeignCharacters } from './scan-json.ts';

/** Reads a body with its schema; each problem points into the body. */
export function readBodyWith<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  return read(schema, value, bodyPointer);
}

/** Reads query parameters with their schema; each problem names its parameter. */
export function readQueryWith<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  refuseForeignCharacters(value);
  return read(schema, value, (path) => `?${path.map(String).join('.')}`);
}

function read<S extends z.ZodType>(
  schema: S,
  value: unknown,
  pointerOf: (path: readonly PropertyKey[]) => string,
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw validationFailed(parsed.error.issues.slice(0, 100).flatMap((one) => items(one, pointerOf)));
}

function items(
  issue: z.core.$ZodIssue,
  pointerOf: (path: readonly PropertyKey[]) => string,
): readonly ProblemItem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 20).map((key) => ({
      pointer: pointerOf([...issue.path, key]),
      detail: 'is not known here',
    }));
  }
  return [{ pointer: pointerOf(issue.path), detail: issue.message }];
}

function bodyPointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');
}

function refuseForeignCharacters(query: unknown): void {
  const values = Object.entries(query ?? {})
    .flat(2)
    .map(String);
  if (!values.some(hasForeignCharacters)) return;
  throw new HttpProblem('invalid_unicode', {
    detail: 'A query parameter has a NUL character or a lone surrogate',
  });
}
