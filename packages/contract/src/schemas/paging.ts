import { z } from 'zod';
import { Instant } from './values.ts';

/** A whole number in a query string, between two bounds. */
export function queryInteger(minimum: number, maximum: number) {
  return z
    .union([
      z.number(),
      z
        .string()
        .regex(/^-?\d{1,15}$/, 'must be a whole number')
        .transform(Number),
    ])
    .pipe(z.int().min(minimum).max(maximum))
    .meta({ type: 'integer', minimum, maximum });
}

/** A query parameter that may be given several times; read as an array. */
export function repeatable<T extends z.ZodType>(item: T) {
  return z.union([item.transform((one) => [one]), z.array(item).min(1).max(20).readonly()]);
}

/** The query parameters of every list. */
export const pageQuery = {
  limit: queryInteger(1, 200).default(50),
  cursor: z
    .string()
    .max(1024)
    .optional()
    .meta({ description: 'The `nextCursor` of the page before; opaque, signed.' }),
};

/** A list with nothing to filter by. */
export const PageQuery = z.strictObject(pageQuery);

/** One page of a list. `nextCursor` is null on the last page. */
export function page<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item).readonly(), nextCursor: z.string().nullable() });
}

/** A whole list that is never long enough for pages. */
export function list<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item).readonly() });
}

/** An instant that may be missing. */
export const MaybeInstant = Instant.nullable();
