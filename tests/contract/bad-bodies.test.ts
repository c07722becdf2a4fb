import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { SendOptions, TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

async function post(body: unknown, options: SendOptions = {}) {
  const { status, json } = await api.inProject('POST', '/jobs', { body, ...options });
  return { status, code: json.code, pointer: json.errors?.[0]?.pointer, json };
}

const nested = (depth: number): string =>
  `{"type":"x","payload":${'['.repeat(depth)}${']'.repeat(depth)}}`;
const keys = (count: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 0])));

describe('a body that is not JSON in UTF-8', () => {
  it.each([
    ['nothing', ''],
    ['blanks', '   '],
    ['half an object', '{"type":"x"'],
    ['two values', '{"type":"x"}{}'],
    ['a trailing comma', '{"type":"x",}'],
    ['a byte order mark', '\ufeff{"type":"x"}'],
    ['a comment', '/* */{"type":"x"}'],
    ['NaN', '{"type":"x","priority":NaN}'],
    ['UTF-16 with a byte order mark', Buffer.from('\ufeff{"type":"x"}', 'utf16le')],
    ['UTF-16 without one', Buffer.from('{"type":"x"}', 'utf16le')],
  ])('is 400 for %s', async (_, body) => {
    expect(await post(body)).toMatchObject({ status: 400, code: 'invalid_json' });
  });

  it.each(['null', '1', '"x"', 'true', '[]'])('is 422 for %s', async (body) => {
    expect(await post(body)).toMatchObject({ status: 422, code: 'validation_failed', pointer: '' });
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/json; charset=latin1',
    'application/x-ndjson',
    '',
  ])('is 415 for the content type "%s"', async (type) => {
    const answer = await post('{"type":"x"}', { headers: { 'content-type': type } });
    expect(answer).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  it.each(['br', 'deflate', 'gzip, gzip'])('is 415 for the coding %s', async (coding) => {
    const answer = await post('{"type":"x"}', { headers: { 'content-encoding': coding } });
    expect(answer).toMatchObject({ status: 415, code: 'unsupported_media_type' });
  });

  it('may be zipped', async () => {
    const headers = { 'content-encoding': 'gzip' };
    expect(await post(gzipSync('{"type":"zipped"}'), { headers })).toMatchObject({ status: 201 });
    expect(await post('no gzip', { headers })).toMatchObject({ status: 400 });
  });
});

describe('text that PostgreSQL cannot keep', () => {
  it.each([
    ['a NUL in a value', '{"type":"x","payload":{"a":["b","\\u0000"]}}', '/payload/a/1'],
    ['a NUL in a key', '{"type":"x","payload":{"a\\u0000":1}}', '/payload/'],
    ['half a surrogate pair', '{"type":"x","payload":"\\ud83d"}', '/payload'],
    ['the other half', '{"type":"x","tags":["\\udc00 "]}', '/tags/0'],
    ['a NUL in the name', '{"type":"x\\u0000"}', '/type'],
  ])('is 422 for %s, and names the place', async (_, body, pointer) => {
    expect(await post(body)).toMatchObject({ status: 422, code: 'invalid_unicode', pointer });
  });

  it('is 422 for invalid UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from('{"type":"x","payload":"'),
      Buffer.from([0xc3, 0x28, 0xff]),
      Buffer.from('"}'),
    ]);
    expect(await post(body)).toMatchObject({ status: 422, code: 'invalid_unicode' });
  });

  it('keeps a whole pair', async () => {
    const { json } = await post('{"type":"x","payload":"\\ud83d\\ude00 \\u0001"}');
    expect(json['payload']).toBe('\u{1f600} \u0001');
  });
});

describe('JSON that exhausts or changes', () => {
  it.each([63, 20_000, 100_000])('is 422 for arrays %i deep inside the payload', async (depth) => {
    const answer = await post(nested(depth + 1));
    expect(answer).toMatchObject({ status: 422, code: 'json_too_complex' });
  });

  it('accepts 64 levels and 10 000 keys, and no more', async () => {
    expect(await post(nested(63))).toMatchObject({ status: 201 });
    expect(await post(`{"type":"x","payload":${keys(9_998)}}`)).toMatchObject({ status: 201 });
    expect(await post(`{"type":"x","payload":${keys(9_999)}}`)).toMatchObject({
      status: 422,
      code: 'json_too_complex',
    });
  });

  it.each(['1e400', '-1e400', '-0', '-0.0', '9007199254740993', `1${'0'.repeat(400)}`, '1e200000'])(
    'is 422 for the number %s',
    async (number) => {
      const answer = await post(`{"type":"x","payload":{"n":${number}}}`);
      expect(answer).toMatchObject({
        status: 422,
        code: 'number_not_exact',
        pointer: '/payload/n',
      });
    },
  );

  it('keeps numbers that fit', async () => {
    const { json } = await post('{"type":"x","payload":[9007199254740991,-1.5e-7,0,1e21]}');
    expect(json['payload']).toEqual([9007199254740991, -1.5e-7, 0, 1e21]);
  });
});

describe('keys with a meaning of their own', () => {
  it.each([
    ['{"type":"x","__proto__":{"polluted":1}}', '/__proto__'],
    ['{"type":"x","constructor":{"prototype":{"polluted":1}}}', '/constructor'],
    ['{"type":"x","toString":1}', '/toString'],
    ['{"type":"x","payload":{"__proto__":{"polluted":1}}}', '/payload/__proto__'],
    ['{"type":"x","payload":{"a":[{"\\u005f_proto__":1}]}}', '/payload/a/0/__proto__'],
    [
      '{"type":"x","backoff":{"kind":"fixed","delay":"1s","constructor":1}}',
      '/backoff/constructor',
    ],
    ['{"type":"x","type":"y"}', '/type'],
    ['{"type":"x","payload":{"a":{"b":1,"b":2}}}', '/payload/a/b'],
    ['{"type":"x","unknown":1}', '/unknown'],
    ['{"type":"x","unique":{"key":"k","unknown":1}}', '/unique/unknown'],
  ])('are refused: %s', async (body, pointer) => {
    expect(await post(body)).toMatchObject({ status: 422, code: 'validation_failed', pointer });
    expect({}).not.toHaveProperty('polluted');
  });

  it('are kept in a payload when they are harmless', async () => {
    const payload = { constructor: { prototype: 1 }, toString: 'x', hasOwnProperty: null };
    const { json } = await post({ type: 'x', payload });
    expect(json['payload']).toEqual(payload);
  });

  it('escapes the parts of a pointer', async () => {
    expect((await post('{"type":"x","payload":{"a/b":{"c~d":-0}}}')).pointer).toBe(
      '/payload/a~1b/c~0d',
    );
  });
});

it('changes nothing when it refuses', async () => {
  const count = async () =>
    (await api.client.listJobs({ params: { project: 'default' }, query: { limit: 200 } })).data
      .length;
  const before = await count();
  await post('{"type":"x","payload":{"n":1e400}}');
  await post(nested(80));
  await post({ type: 'x', priority: 11 });
  expect(await count()).toBe(before);
});
