import { SpanStatusCode } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import { toAttemptError } from '@holdfast/worker';
import { messaging } from './span-attributes.ts';

/**
 * Notes on a span that it failed, and by what.
 *
 * @param code what the error is known by, if that is not its own code or name
 */
export function recordError(span: Span | undefined, error: unknown, code?: string): void {
  if (span?.isRecording() !== true) return;
  // Handlers throw all kinds of things; this reads them without harm.
  const { message, stack, code: ownCode } = toAttemptError(error, '');
  const name = code ?? (ownCode === 'handler_failed' ? nameOf(error) : ownCode);
  span.recordException({ name, message, ...(stack === undefined ? {} : { stack }) });
  span.setAttribute(messaging.errorType, name);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function nameOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.name;
  } catch {
    // A proxy that throws when it is touched.
  }
  // The conventions' word for what has no name.
  return '_OTHER';
}
