import type { IncomingMessage } from 'node:http';
import { jobLimits } from '@holdfast/domain';
import { HttpProblem } from './problem.ts';
import { readBody } from './read-body.ts';
import { ordinaryJsonLimits, scanJson } from './scan-json.ts';
import type { JsonLimits } from './scan-json.ts';

/** What a route's body may be. */
export interface BodyRules {
  readonly limitBytes: number;
  readonly json: JsonLimits;
  /** Whether no body at all stands for `{}`. */
  readonly mayBeEmpty: boolean;
  readonly mayBeLines: boolean;
}

/** The most bytes that one job may have. */
export const jobBytes = jobLimits.payloadBytes;

/** The rules of a body unless its route says otherwise. */
export const ordinaryBody: BodyRules = {
  limitBytes: 1024 * 1024,
  json: ordinaryJsonLimits,
  mayBeEmpty: false,
  mayBeLines: false,
};

/** A body as read: what it says, and its bytes for comparing requests. */
export interface ParsedBody {
  readonly value: unknown;
  readonly bytes: Buffer;
}

/**
 * Reads a JSON body by the rules.
 *
 * @throws HttpProblem for every body that is not plain JSON within the limits
 */
export async function parseBody(request: IncomingMessage, rules: BodyRules): Promise<ParsedBody> {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody && rules.mayBeEmpty) return { value: {}, bytes: Buffer.alloc(0) };
  const form = bodyForm(request.headers['content-type'], rules);
  const bytes = await readBody(request, rules.limitBytes);
  const text = decode(bytes);
  return { value: form === 'lines' ? parseLines(text) : parseJson(text, rules.json), bytes };
}

function bodyForm(contentType: string | undefined, rules: BodyRules): 'json' | 'lines' {
  const [type = '', ...parameters] = (contentType ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (isUtf8 && type === 'application/json') return 'json';
  if (isUtf8 && type === 'application/x-ndjson' && rules.mayBeLines) return 'lines';
  throw new HttpProblem('unsupported_media_type', {
    detail: 'The body must be application/json in UTF-8',
    headers: { 'accept-post': 'application/json' },
  });
}

function decode(bytes: Buffer): string {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xfe && second === 0xff) || (first === 0xff && second === 0xfe);
  if (isUtf16) throw invalidJson('The body is UTF-16; it must be UTF-8');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    const errors = [{ pointer: '', detail: 'is not valid UTF-8' }];
    throw new HttpProblem('invalid_unicode', { errors, cause });
  }
}

function parseJson(text: string, limits: JsonLimits): unknown {
  scanJson(text, limits);
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJson(text.trim() === '' ? 'The body is empty' : 'The body is not JSON');
  }
}

function parseLines(text: string): unknown {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return { jobs: lines.map((line, index) => parseLine(line, index)) };
}

function parseLine(line: string, index: number): unknown {
  try {
    return parseJson(line, ordinaryJsonLimits);
  } catch (error) {
    if (!(error instanceof HttpProblem)) throw error;
    const errors = error.options.errors ?? [{ pointer: '', detail: error.message }];
    const at = `/jobs/${String(index)}`;
    throw new HttpProblem(error.code, {
      ...error.options,
      errors: errors.map(({ pointer, detail }) => ({ pointer: at + pointer, detail })),
    });
  }
}

function invalidJson(detail: string): HttpProblem {
  return new HttpProblem('invalid_json', { detail });
}
