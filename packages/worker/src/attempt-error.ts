import { createHash } from 'node:crypto';
import type { AttemptError } from '@holdfast/domain';
import { storableCut } from './safe-json.ts';

const maxMessageLength = 4_000;
const maxStackLength = 16_000;

/**
 * Turns whatever a handler threw into what is stored. Never throws itself: handlers throw `undefined`, circular
 * objects, proxies that throw when touched, and texts of many megabytes.
 */
export function toAttemptError(thrown: unknown, type: string): AttemptError {
  const message = storableCut(readMessage(thrown), maxMessageLength);
  const stack = readText(thrown, 'stack');
  const code = codeOf(thrown);
  return {
    code,
    message,
    ...(stack === undefined ? {} : { stack: storableCut(stack, maxStackLength) }),
    fingerprint: fingerprintOf({
      type,
      errorName: readText(thrown, 'name') ?? code,
      message,
      stack,
    }),
  };
}

const codeForm = /^[A-Za-z0-9_.:-]{1,64}$/;

function codeOf(thrown: unknown): string {
  const code = readText(thrown, 'code');
  return code !== undefined && codeForm.test(code) ? code : 'handler_failed';
}

function readMessage(thrown: unknown): string {
  const message = readText(thrown, 'message');
  if (message !== undefined) return message;
  if (typeof thrown === 'string') return thrown;
  try {
    return typeof thrown === 'object' && thrown !== null
      ? `Thrown: ${JSON.stringify(thrown)}`
      : `Thrown: ${String(thrown)}`;
  } catch {
    return `Thrown: a ${typeof thrown} that cannot be shown`;
  }
}

/** A text property of an unknown value. */
function readText(value: unknown, key: string): string | undefined {
  const found = readProperty(value, key);
  return typeof found === 'string' ? found : undefined;
}

/** A property of an unknown value; undefined also when reading it runs hostile code that throws. */
export function readProperty(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

/**
 * Groups errors that look alike: the type, the error's class, its message without numbers, ids and quoted text, and the
 * topmost stack frame that is not from a dependency.
 */
function fingerprintOf(parts: {
  readonly type: string;
  readonly errorName: string;
  readonly message: string;
  readonly stack: string | undefined;
}): string {
  const text = [parts.type, parts.errorName, withoutDetails(parts.message), ownFrame(parts.stack)];
  return createHash('sha256').update(text.join('\n')).digest('hex').slice(0, 16);
}

function withoutDetails(message: string): string {
  return message
    .slice(0, 500)
    .replace(/(["'`]).*?\1/g, '…')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '…')
    .replace(/\b(?:0x)?[0-9a-f]*\d[0-9a-f]*\b/gi, '…');
}

function ownFrame(stack: string | undefined): string {
  const frames = (stack ?? '').slice(0, maxStackLength).split('\n').slice(1);
  const own = frames.find((frame) => !/node_modules|node:internal|node:/.test(frame));
  // Line numbers move with every edit; the function and file stay.
  return (own ?? '').trim().replace(/:\d+:\d+\)?$/, '');
}
