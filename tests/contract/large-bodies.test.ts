import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitFor } from '@holdfast/testing';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const path = '/api/v1/projects/default/jobs';
const job = (bytes: number): string =>
  `{"type":"x","payload":"${'a'.repeat(bytes - '{"type":"x","payload":""}'.length)}"}`;

/** A connection with what came back on it. */
function open(): { socket: Socket; answer: () => string; isClosed: () => boolean } {
  const socket = connect(api.port, '127.0.0.1');
  let answer = '';
  let closed = false;
  socket.on('data', (data) => (answer += data.toString('latin1')));
  socket.on('error', () => undefined).on('close', () => (closed = true));
  return { socket, answer: () => answer, isClosed: () => closed };
}

const head = (headers: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.ownerToken}\r\n` +
  `Content-Type: application/json\r\n${headers}\r\n\r\n`;

describe('a body over the limit', () => {
  it('is 413 from the first byte too many', async () => {
    const limit = 256 * 1024;
    expect((await api.inProject('POST', '/jobs', { body: job(limit) })).status).toBe(201);
    const sent = await api.inProject('POST', '/jobs', { body: job(limit + 1) });
    expect([sent.status, sent.json.code]).toEqual([413, 'body_too_large']);
    expect(sent.json.detail).toMatch(/reference/);
  });

  it('is 413 for 1.1 MB of settings', async () => {
    const body = `{"name":"${'q'.repeat(1_100_000)}"}`;
    expect((await api.inProject('POST', '/queues', { body })).status).toBe(413);
  });

  it('is 413 for a payload over 256 kB in a bulk request', async () => {
    const jobs = [{ type: 'x' }, { type: 'x', payload: 'a'.repeat(300_000) }];
    const sent = await api.inProject('POST', '/jobs/bulk', { body: { jobs } });
    expect([sent.status, sent.json.code]).toEqual([413, 'payload_too_large']);
    expect(sent.json.errors?.[0]).toMatchObject({ pointer: '/jobs/1/payload' });
  });

  it('is refused by its announced length, before it is sent, and the connection ends', async () => {
    const { socket, answer, isClosed } = open();
    socket.write(head('Content-Length: 104857600'));
    await waitFor('the refusal arrives', () => answer().startsWith('HTTP/1.1 413 '));
    expect(answer()).toMatch(/connection: close/i);
    await waitFor('the connection ends', isClosed);
  });

  it('is refused while it is sent without a length, and not kept in memory', async () => {
    const { socket, answer, isClosed } = open();
    socket.write(head('Transfer-Encoding: chunked'));
    const before = process.memoryUsage().rss;
    const chunk = `10000\r\n${'a'.repeat(0x10000)}\r\n`;
    const flood = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', flood);
    flood();
    await waitFor('the refusal arrives', () => answer().startsWith('HTTP/1.1 413 '));
    await waitFor('the connection ends', isClosed);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('is refused as soon as it is too large when unzipped', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x20), { level: 9 });
    expect(bomb.length).toBeLessThan(256 * 1024);
    const sent = await api.inProject('POST', '/jobs', {
      body: bomb,
      headers: { 'content-encoding': 'gzip' },
    });
    expect([sent.status, sent.json.code]).toEqual([413, 'body_too_large']);
  });

  it('does not keep others waiting', async () => {
    const { socket } = open();
    socket.write(head('Content-Length: 1000'));
    expect((await api.inProject('POST', '/jobs', { body: { type: 'x' } })).status).toBe(201);
    socket.destroy();
  });
});
