import { z } from 'zod';
import type { Route } from './route.ts';
import { EventPosition } from './schemas/events.ts';

/** An `Idempotency-Key`: printable ASCII, at most 255 characters. */
export const IdempotencyKey = z.string().regex(/^[\x21-\x7e]{1,255}$/);

const idempotencyHeader = {
  'Idempotency-Key': IdempotencyKey.optional().meta({
    description:
      'The same key with the same body within 24 hours gets the first answer again, with ' +
      '`Idempotent-Replayed: true`; with another body it gets 422.',
  }),
};

const ifMatchHeader = {
  'If-Match': z.string().optional().meta({
    description: 'The ETag of the settings that the change was made from; 412 when they are newer.',
  }),
};

const lastEventIdHeader = {
  'Last-Event-ID': EventPosition.optional().meta({
    description:
      'Only events behind this one; comes before `after`. Browsers send it by themselves.',
  }),
};

/** The headers that a request to the route may carry, as a part of `requestParams`. */
export function requestHeaders(route: Route): { header?: z.ZodObject } {
  const shape = {
    ...(route.idempotent === true ? idempotencyHeader : {}),
    ...(route.etag === 'checked' ? ifMatchHeader : {}),
    ...(route.responseType === 'text/event-stream' ? lastEventIdHeader : {}),
  };
  return Object.keys(shape).length === 0 ? {} : { header: z.object(shape) };
}
