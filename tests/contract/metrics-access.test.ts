import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { TestApi } from './support/test-api.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => {
  await api.stop();
});

describe('figures without a token', () => {
  it('are given to callers on the same machine', async () => {
    expect((await api.send('GET', '/metrics', { token: null })).status).toBe(200);
  });

  it.each(['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'])(
    'are not given through a proxy that says %s',
    async (name) => {
      const headers = { [name]: '203.0.113.7' };
      expect((await api.send('GET', '/metrics', { token: null, headers })).status).toBe(401);
    },
  );
});
