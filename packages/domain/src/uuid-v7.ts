// Web Crypto rather than node:crypto, because this package also runs in the browser.
const pool = new Uint8Array(10 * 256);
let offset = pool.length;

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

let latestMs = -1;
let counter = 0;

/**
 * Makes a UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then a counter of 26 bits that begins anywhere in
 * its lower half (section 6.2, method 1), then 48 random bits. So ids made later sort later; within one millisecond that
 * holds for ids of one process.
 *
 * @param nowMs Unix milliseconds; ids are names, not clocks, so a skewed clock only weakens their order.
 */
export function uuidV7(nowMs: number): string {
  counter = nowMs === latestMs ? counter + 1 : Number.parseInt(takeRandomHex(4), 16) >>> 7;
  latestMs = nowMs;
  return toUuid(nowMs.toString(16).padStart(12, '0'), counter, takeRandomHex(6));
}

/** Ids of one series at most; further ones repeat the first. */
const seriesLength = 2 ** 26;

/**
 * Makes ids that belong to another id, such as those of a batch's jobs: UUIDv7 of the same time, each of which sorts after
 * the one before. The same `ofId` gives the same ids again.
 */
export function uuidSeries(ofId: string): () => string {
  const time = ofId.replaceAll('-', '').slice(0, 12);
  const tail = (fnv1a(ofId) & 0xffff_ffff_ffffn).toString(16).padStart(12, '0');
  let next = 0;
  return () => {
    return toUuid(time, next++ % seriesLength, tail);
  };
}

/** @param time 12 hexadecimal digits, as is `tail` @param count 26 bits, on either side of the variant */
function toUuid(time: string, count: number, tail: string): string {
  const high = (count >>> 14).toString(16).padStart(3, '0');
  const low = (0x8000 | (count & 0x3fff)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-7${high}-${low}-${tail}`;
}

/** The 64-bit FNV-1a hash (Fowler, Noll and Vo) of a text in ASCII. */
function fnv1a(text: string): bigint {
  let hash = 0xcbf2_9ce4_8422_2325n;
  for (let index = 0; index < text.length; index += 1) {
    hash = ((hash ^ BigInt(text.charCodeAt(index))) * 0x100_0000_01b3n) & 0xffff_ffff_ffff_ffffn;
  }
  return hash;
}

function takeRandomHex(bytes: number): string {
  if (offset + bytes > pool.length) {
    globalThis.crypto.getRandomValues(pool);
    offset = 0;
  }
  let hex = '';
  for (const end = offset + bytes; offset < end; offset += 1)
    hex += hexOfByte[pool[offset] ?? 0] ?? '';
  return hex;
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether the text is a UUID in the canonical lower-case form. */
export function isUuid(text: string): boolean {
  return uuidForm.test(text);
}
