import { PayloadInvalidError, jsonPointer } from '@holdfast/domain';
import type { StandardSchema, StandardSchemaIssue } from './standard-schema.ts';

/**
 * Checks a payload with a schema.
 *
 * @param given the value whose JSON the payload is, when the caller had one that says more than its JSON
 * @returns what the schema makes of it
 * @throws PayloadInvalidError that names the path of each issue
 */
export async function validatePayload<Output>(
  definition: { readonly type: string; readonly schema: StandardSchema<unknown, Output> },
  payload: unknown,
  given: unknown = payload,
): Promise<Output> {
  const { type, schema } = definition;
  const result = await schema['~standard'].validate(payload);
  if (result.issues === undefined) return result.value;
  const issues = result.issues.map((issue) => {
    const keys = issueKeys(issue);
    const hint = valueAt(given, keys) instanceof Date ? dateHint : '';
    return {
      pointer: jsonPointer(keys),
      message: `${issue.message}${hint}`,
    };
  });
  throw new PayloadInvalidError(type, issues);
}

const dateHint =
  ' (payloads are checked as the JSON that handlers get, where a Date is a text: use a schema that makes a Date of it, ' +
  'such as z.coerce.date())';

/** Where an issue is. */
export function issueKeys({ path = [] }: StandardSchemaIssue): readonly (string | number)[] {
  return path.map((segment) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    return typeof key === 'symbol' ? key.toString() : key;
  });
}

function valueAt(value: unknown, keys: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found;
}
