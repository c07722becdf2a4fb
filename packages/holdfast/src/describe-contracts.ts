import { createHash } from 'node:crypto';
import type { NewPayloadContract } from '@holdfast/database';
import { isRecord, isStorableText } from '@holdfast/domain';
import type { PayloadContract } from './payload-versions.ts';
import type { StandardSchema } from './standard-schema.ts';

const target = 'draft-2020-12';

/** What a definition says of its newest payloads, for the registry. */
export function describeContract({
  type,
  schema,
  version,
}: Pick<PayloadContract, 'type' | 'schema' | 'version'>): NewPayloadContract {
  const jsonSchema = schema === undefined ? undefined : jsonSchemaOf(schema);
  if (jsonSchema === undefined) {
    return { type, version, schemaJson: undefined, fingerprint: undefined };
  }
  const schemaJson = JSON.stringify(sorted(jsonSchema));
  const fingerprint = createHash('sha256').update(schemaJson).digest('hex');
  return { type, version, schemaJson, fingerprint };
}

/**
 * The JSON Schema of what a schema takes, as its library writes it (Standard JSON Schema, https://standardschema.dev);
 * `undefined` when the library does not, or cannot for this schema.
 */
function jsonSchemaOf(schema: StandardSchema): Readonly<Record<string, unknown>> | undefined {
  try {
    const jsonSchema: unknown = schema['~standard'].jsonSchema?.input({ target });
    // Through JSON, as it is stored: nothing of the library's own stays on it.
    const plain: unknown = JSON.parse(JSON.stringify(jsonSchema ?? null), requireStorable);
    return isRecord(plain) ? plain : undefined;
  } catch {
    return undefined;
  }
}

/** Throws for what PostgreSQL cannot store: one schema that has it would keep those of all others out. */
function requireStorable(key: string, value: unknown): unknown {
  const texts = typeof value === 'string' ? [key, value] : [key];
  if (!texts.every(isStorableText)) throw new RangeError('not storable');
  return value;
}

/** With the keys of every object in their order, so that the same schema is the same text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, key === 'required' ? inOrder(inner) : sorted(inner)]),
  );
}

/** The properties that must be there are written in the order in which the schema names them, which means nothing. */
function inOrder(required: unknown): unknown {
  const areNames = Array.isArray(required) && required.every((name) => typeof name === 'string');
  return areNames ? [...required].sort() : sorted(required);
}
