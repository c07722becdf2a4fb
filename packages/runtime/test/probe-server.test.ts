import { answerCheck, createProbeServer } from '@holdfast/runtime';
import { createMetrics } from '@holdfast/runtime/create-metrics';
import { afterEach, describe, expect, it } from 'vitest';
import type { HealthCheck, ProbeServer } from '@holdfast/runtime';

let probe: ProbeServer | undefined;

afterEach(async () => {
  await probe?.stop();
});

async function serve(live: readonly HealthCheck[], ready: readonly HealthCheck[]) {
  const server = createProbeServer({
    port: 0,
    host: '127.0.0.1',
    live,
    ready,
    metrics: createMetrics(),
  });
  probe = server;
  await server.start();
  return async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${String(server.port)}${path}`);
    return { status: response.status, text: await response.text() };
  };
}

const fine: HealthCheck = { name: 'loops', check: () => undefined };

describe('the probe server', () => {
  it('answers 200 while all is well', async () => {
    const get = await serve([fine], [fine]);
    expect(await get('/livez')).toEqual({ status: 200, text: 'ok\n' });
    expect(await get('/readyz?verbose')).toEqual({
      status: 200,
      text: '[+]draining ok\n[+]loops ok\nok\n',
    });
    expect((await get('/metrics')).status).toBe(200);
    expect((await get('/other')).status).toBe(404);
  });

  it('is alive but not ready when a check fails or throws', async () => {
    const get = await serve(
      [fine],
      [{ name: 'database', check: () => Promise.reject(new Error('connection refused')) }],
    );
    expect((await get('/livez')).status).toBe(200);
    const { status, text } = await get('/healthz');
    expect(status).toBe(503);
    expect(text).toContain('[-]database connection refused');
  });

  it('is not ready while something does not answer', async () => {
    const get = await serve([], [answerCheck('database', () => new Promise(() => undefined))]);
    expect((await get('/readyz')).text).toContain('[-]database no answer within 1 s');
  });

  it('is not ready while it drains', async () => {
    const get = await serve([fine], [fine]);
    probe?.markDraining();
    expect((await get('/readyz')).status).toBe(503);
    expect((await get('/livez')).status).toBe(200);
  });

  it('refuses to start on a taken port and can be stopped all the same', async () => {
    await serve([], []);
    const second = createProbeServer({
      port: probe?.port ?? 0,
      host: '127.0.0.1',
      live: [],
      ready: [],
      metrics: createMetrics(),
    });
    await expect(second.start()).rejects.toThrow('EADDRINUSE');
    await second.stop();
    await second.stop();
  });
});
