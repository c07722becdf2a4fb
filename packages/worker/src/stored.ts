/**
 * What a value is after it was stored as JSON: what has `toJSON`, such as a date, is what that gives, a bigint is a text,
 * and functions, symbols and `undefined` are left out.
 */
export type Stored<Value> = unknown extends Value
  ? Value
  : Value extends { toJSON(key?: string): infer Json }
    ? Stored<Json>
    : Value extends string | number | boolean | null | undefined
      ? Value
      : Value extends bigint
        ? string
        : Value extends ((...args: never) => unknown) | symbol
          ? undefined
          : Value extends readonly unknown[] | object
            ? { readonly [Key in keyof Value]: Stored<Value[Key]> }
            : undefined;
