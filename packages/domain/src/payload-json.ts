import { jobLimits } from './job-limits.ts';
import { jsonPointer } from './json-pointer.ts';
import { PayloadInvalidError, PayloadTooLargeError } from './payload-errors.ts';

/** A payload as it is stored. */
export interface PayloadJson {
  readonly json: string;
  /** Whether reading the text gives the same value; a date, for example, is read as text. */
  readonly isExact: boolean;
}

/**
 * Writes a payload as JSON that PostgreSQL keeps as it is. What JSON would leave out or change without a word is
 * refused: functions, NaN, maps, promises; so is what PostgreSQL refuses: NUL characters and lone surrogates. Properties
 * that are undefined are left out, and no payload at all is `{}`.
 *
 * @throws PayloadInvalidError with a JSON pointer to the first offence; PayloadTooLargeError
 */
export function payloadJson(
  value: unknown,
  { type, limitBytes = jobLimits.payloadBytes }: PayloadJsonOptions,
): PayloadJson {
  if (value === undefined) return { json: '{}', isExact: false };
  const walk = new JsonWalk();
  try {
    walk.check(value);
  } catch (cause) {
    if (cause instanceof Offence) {
      throw new PayloadInvalidError(type, [{ pointer: walk.pointer, message: cause.message }]);
    }
    const message = 'could not be read: a getter or toJSON threw';
    throw new PayloadInvalidError(type, [{ pointer: walk.pointer, message }]);
  }
  const json = JSON.stringify(value);
  if (isLonger(json, limitBytes)) throw new PayloadTooLargeError(type, limitBytes);
  return { json, isExact: walk.isExact };
}

/** Of which type the payload is, and how large it may be. */
export interface PayloadJsonOptions {
  readonly type: string;
  /** Default: `jobLimits.payloadBytes`. */
  readonly limitBytes?: number | undefined;
}

/** Whether the text has more bytes of UTF-8 than the limit. */
export function isLonger(text: string, limitBytes: number): boolean {
  // A unit of UTF-16 is at most three bytes of UTF-8.
  if (text.length * 3 <= limitBytes) return false;
  return text.length > limitBytes || new TextEncoder().encode(text).length > limitBytes;
}

class Offence extends Error {}

class JsonWalk {
  readonly #path: (string | number)[] = [];
  readonly #ancestors: object[] = [];
  #keyCount = 0;
  isExact = true;

  /** Where the walk is; after an offence, where it is. */
  get pointer(): string {
    return jsonPointer(this.#path);
  }

  check(value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.#checkText(value);
        return;
      case 'number':
        if (!Number.isFinite(value))
          throw new Offence(`is ${String(value)}, which JSON cannot hold`);
        return;
      case 'boolean':
        return;
      case 'object':
        if (value !== null) this.#checkObject(value);
        return;
      case 'undefined':
        throw new Offence('is undefined, which JSON cannot hold here');
      case 'bigint':
        throw new Offence('is a BigInt, which JSON cannot hold; send it as a string');
      default:
        throw new Offence(`is a ${typeof value}, which JSON cannot hold`);
    }
  }

  #checkText(text: string): void {
    if (text.includes('\0'))
      throw new Offence('has a NUL character, which PostgreSQL cannot store');
    if (/\p{Surrogate}/u.test(text))
      throw new Offence('has a lone surrogate, which is no valid text');
  }

  #checkObject(value: object): void {
    if (this.#ancestors.includes(value)) throw new Offence('refers to itself');
    if (this.#ancestors.length >= jobLimits.jsonDepth) {
      // The pointer would be as deep as the value.
      this.#path.length = 0;
      throw new Offence(`is nested deeper than ${String(jobLimits.jsonDepth)}`);
    }
    this.#ancestors.push(value);
    if ('toJSON' in value && typeof value.toJSON === 'function') this.#checkConverted(value);
    else if (Array.isArray(value)) this.#checkArray(value);
    else this.#checkProperties(value);
    this.#ancestors.pop();
  }

  #checkConverted(value: object & { readonly toJSON: unknown }): void {
    this.isExact = false;
    if (value instanceof Date && Number.isNaN(value.getTime())) {
      throw new Offence('is an invalid date');
    }
    // Called as JSON.stringify will call it.
    this.check(
      Reflect.apply(value.toJSON as () => unknown, value, [String(this.#path.at(-1) ?? '')]),
    );
  }

  #checkArray(items: readonly unknown[]): void {
    for (let index = 0; index < items.length; index += 1) {
      this.#path.push(index);
      this.check(items[index]);
      this.#path.pop();
    }
  }

  #checkProperties(value: object): void {
    const tag = Object.prototype.toString.call(value).slice(8, -1);
    if (tag !== 'Object') throw new Offence(`is a ${tag}, which JSON cannot hold`);
    for (const [key, entry] of Object.entries(value)) {
      this.#path.push(key);
      this.#checkKey(key);
      if (entry === undefined) this.isExact = false;
      else this.check(entry);
      this.#path.pop();
    }
  }

  #checkKey(key: string): void {
    this.#keyCount += 1;
    if (this.#keyCount > jobLimits.jsonKeys) {
      this.#path.length = 0;
      throw new Offence(`has more than ${String(jobLimits.jsonKeys)} keys`);
    }
    if (key === '__proto__') throw new Offence('is not allowed as a key');
    this.#checkText(key);
  }
}
