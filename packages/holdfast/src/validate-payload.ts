import { PayloadInvalidError, jsonPointer } from '@holdfast/domain';
import type { StandardSchema, StandardSchemaIssue } from './standard-schema.ts';

/**
 * Checks a payload with a schema.
 *
 * @returns what the schema makes of it
 * @throws PayloadInvalidError that names the path of each issue
 */
export async function validatePayload<Output>(
  type: string,
  schema: StandardSchema<unknown, Output>,
  payload: unknown,
): Promise<Output> {
  const result = await schema['~standard'].validate(payload);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => ({
    pointer: pointerOf(issue),
    message: issue.message,
  }));
  throw new PayloadInvalidError(type, issues);
}

function pointerOf({ path = [] }: StandardSchemaIssue): string {
  const keys = path.map((segment) => (typeof segment === 'object' ? segment.key : segment));
  return jsonPointer(keys.map((key) => (typeof key === 'symbol' ? key.toString() : key)));
}
