import { isStorableText, jobLimits } from '@holdfast/domain';
import { HttpProblem } from './problem.ts';
import type { ProblemCode } from './problem-statuses.ts';

/** What a JSON text may be made of. */
export interface JsonLimits {
  readonly maxDepth: number;
  readonly maxKeys: number;
}

/** The limits of an ordinary body. */
export const ordinaryJsonLimits: JsonLimits = {
  maxDepth: jobLimits.jsonDepth,
  maxKeys: jobLimits.jsonKeys,
};

interface Frame {
  readonly isObject: boolean;
  readonly keys: Set<string>;
  /** The key or index of the value that is being read. */
  at: string | number;
  expectsKey: boolean;
}

const stringForm = /"(?:[^"\\]|\\.)*"/y;
const numberForm = /-?\d[\d.eE+-]*/y;

/**
 * Refuses what `JSON.parse` would take and the rest of the system would not: nesting and key counts that exhaust it, NUL
 * and lone surrogates that PostgreSQL cannot store, numbers that change when they are read, keys that are given twice,
 * and `__proto__`. Wrong syntax is left for `JSON.parse` to find.
 *
 * @throws HttpProblem with a JSON pointer to the first offence
 */
export function scanJson(text: string, limits: JsonLimits = ordinaryJsonLimits): void {
  new JsonScanner(text, limits).scan();
}

class JsonScanner {
  readonly #text: string;
  readonly #limits: JsonLimits;
  readonly #frames: Frame[] = [];
  #position = 0;
  #keyCount = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  scan(): void {
    while (this.#position < this.#text.length) this.#step(this.#text.charAt(this.#position));
  }

  #step(character: string): void {
    switch (character) {
      case '{':
      case '[':
        this.#open(character === '{');
        break;
      case '}':
      case ']':
        this.#frames.pop();
        break;
      case ',':
        this.#next();
        break;
      case '"':
        this.#string();
        return;
      default:
        if (character === '-' || (character >= '0' && character <= '9')) {
          this.#number();
          return;
        }
    }
    this.#position += 1;
  }

  #open(isObject: boolean): void {
    this.#frames.push({ isObject, keys: new Set(), at: isObject ? '' : 0, expectsKey: isObject });
    if (this.#frames.length > this.#limits.maxDepth) {
      // The pointer would be as deep as the text.
      this.#refuse(
        'json_too_complex',
        `is nested deeper than ${String(this.#limits.maxDepth)}`,
        '',
      );
    }
  }

  #next(): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    if (typeof frame.at === 'number') frame.at += 1;
    frame.expectsKey = frame.isObject;
  }

  #string(): void {
    const raw = this.#take(stringForm);
    // Unended: no JSON, which the parser will say.
    if (raw === undefined) return;
    const hasEscapes = raw.includes('\\');
    const value = hasEscapes ? unescape(raw) : raw.slice(1, -1);
    const frame = this.#frames.at(-1);
    const isKey = frame?.expectsKey === true;
    if (isKey) frame.at = value;
    // Unescaped they are no JSON, which the parser will say.
    if (hasEscapes && hasForeignCharacters(value)) {
      const pointer = isKey ? this.#pointer().replace(/[^/]*$/, '') : this.#pointer();
      this.#refuse('invalid_unicode', 'has a NUL character or a lone surrogate', pointer);
    }
    if (isKey) this.#key(frame, value);
  }

  #key(frame: Frame, key: string): void {
    frame.expectsKey = false;
    this.#keyCount += 1;
    if (this.#keyCount > this.#limits.maxKeys) {
      this.#refuse('json_too_complex', `has more than ${String(this.#limits.maxKeys)} keys`, '');
    }
    if (key === '__proto__') this.#refuse('validation_failed', 'is not allowed as a key');
    if (frame.keys.has(key)) this.#refuse('validation_failed', 'is given twice');
    frame.keys.add(key);
  }

  #number(): void {
    const raw = this.#take(numberForm) ?? '';
    const value = Number(raw);
    // No number at all: no JSON, which the parser will say.
    if (Number.isNaN(value)) return;
    const isWhole = /^-?\d+$/.test(raw);
    if (!Number.isFinite(value)) this.#refuse('number_not_exact', 'is too large for a number');
    if (Object.is(value, -0)) this.#refuse('number_not_exact', 'is a negative zero');
    if (isWhole && !Number.isSafeInteger(value)) {
      this.#refuse('number_not_exact', 'is not exact as a number; send it as a string');
    }
  }

  #take(form: RegExp): string | undefined {
    form.lastIndex = this.#position;
    const raw = form.exec(this.#text)?.[0];
    this.#position = raw === undefined ? this.#text.length : form.lastIndex;
    return raw;
  }

  #pointer(): string {
    return this.#frames
      .map(({ at }) => `/${String(at).replaceAll('~', '~0').replaceAll('/', '~1')}`)
      .join('');
  }

  #refuse(code: ProblemCode, detail: string, pointer: string = this.#pointer()): never {
    throw new HttpProblem(code, { errors: [{ pointer, detail }] });
  }
}

function unescape(raw: string): string {
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw;
  }
}

/** Whether the text has characters that PostgreSQL cannot store. */
export function hasForeignCharacters(text: string): boolean {
  return !isStorableText(text);
}
