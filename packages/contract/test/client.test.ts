import { ApiError, createApiClient } from '@holdfast/contract';
import { describe, expect, it } from 'vitest';

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A client whose requests are answered as said, and kept. */
function clientThatGets(status: number, body: unknown, headers: Record<string, string> = {}) {
  const sent: Sent[] = [];
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const client = createApiClient({
    baseUrl: 'http://api.example',
    getAccessToken: () => Promise.resolve('token'),
    fetch: (url, init = {}) => {
      sent.push({ url: url instanceof Request ? url.url : url.toString(), init });
      return Promise.resolve(new Response(status === 204 ? null : text, { status, headers }));
    },
  });
  return { client, sent };
}

const params = { project: 'default' } as const;

describe('the client', () => {
  it('fills in path and query, and brings its token', async () => {
    const { client, sent } = clientThatGets(200, { data: [], nextCursor: null });
    const query = { status: ['queued', 'running'], tag: 'a&b', limit: 5 } as const;
    await client.listJobs({ params: { project: 'a/b' }, query });
    expect(sent[0]?.url).toBe(
      'http://api.example/api/v1/projects/a%2Fb/jobs?status=queued&status=running&tag=a%26b&limit=5',
    );
    expect(sent[0]?.init).toMatchObject({
      method: 'GET',
      headers: { authorization: 'Bearer token' },
    });
    expect(sent[0]?.init.body).toBeUndefined();
  });

  it('sends bodies as JSON, an empty object where none is given', async () => {
    const { client, sent } = clientThatGets(200, {});
    await client.enqueueJob({ params, body: { type: 'x' }, idempotencyKey: 'k' });
    await client.retryJob({ params: { ...params, id: 'i' } });
    expect(sent[0]?.init).toMatchObject({
      method: 'POST',
      body: '{"type":"x"}',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
    });
    expect(sent[1]?.init.body).toBe('{}');
  });

  it('answers nothing for an answer without content', async () => {
    const { client } = clientThatGets(204, '');
    await expect(client.logout()).resolves.toBeUndefined();
  });

  it('tells ETag, status and whether the answer is a repetition', async () => {
    const headers = { etag: '"r1"', 'idempotent-replayed': 'true' };
    const { client } = clientThatGets(201, { name: 'q' }, headers);
    const answer = await client.send('createQueue', { params, body: { name: 'q' } });
    expect(answer).toEqual({ status: 201, body: { name: 'q' }, etag: '"r1"', replayed: true });
  });

  it('throws an error answer with its code, request id and when to try again', async () => {
    const problem = { type: '/x', title: 'Full', status: 503, code: 'overloaded', requestId: 'r' };
    const { client } = clientThatGets(503, problem, { 'retry-after': '2' });
    const error = await client.getMe().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      status: 503,
      code: 'overloaded',
      message: 'Full',
      requestId: 'r',
      retryAfterMs: 2_000,
      problem,
    });
  });

  it.each(['<html>Bad gateway</html>', '', '{"error":"x"}', 'null', '[]'])(
    'throws what is no problem of ours by its status: %s',
    async (text) => {
      const { client } = clientThatGets(502, text);
      await expect(client.getMe()).rejects.toMatchObject({ code: 'http_502', problem: undefined });
    },
  );
});
