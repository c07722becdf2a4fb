/**
 * A schema of any library that speaks Standard Schema 1 (https://standardschema.dev), such as Zod, Valibot, ArkType or
 * TypeBox. Only its types are here: Holdfast depends on no schema library.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    validate(
      value: unknown,
    ): StandardSchemaResult<Output> | PromiseLike<StandardSchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Of libraries that speak Standard JSON Schema as well: what the schema takes, as a JSON Schema. */
    readonly jsonSchema?: StandardJsonSchema | undefined;
  };
}

/** How a schema writes itself as a JSON Schema; may throw when it cannot. */
export interface StandardJsonSchema {
  input(options: { readonly target: 'draft-2020-12' }): unknown;
}

/** What a schema says of a value. */
export type StandardSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardSchemaIssue[] };

/** One thing that is wrong with a value. */
export interface StandardSchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema accepts. */
export type InputOfSchema<Schema extends StandardSchema> = NonNullable<
  Schema['~standard']['types']
>['input'];

/** What a schema makes of it. */
export type OutputOfSchema<Schema extends StandardSchema> = NonNullable<
  Schema['~standard']['types']
>['output'];
