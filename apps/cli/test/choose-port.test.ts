import { createServer } from 'node:net';
import { freePort } from '@holdfast/testing';
import { describe, expect, it } from 'vitest';
import { choosePort } from '../src/up/choose-port.ts';

describe('the port', () => {
  it('is the wanted one while it is free, and another one when it is taken', async () => {
    const wanted = await freePort();
    expect(await choosePort(wanted)).toBe(wanted);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
    try {
      const chosen = await choosePort(wanted);
      expect(chosen).not.toBe(wanted);
      expect(chosen).toBeGreaterThan(0);
    } finally {
      server.close();
    }
  });

  it('is not one that is chosen already, although nobody listens on it yet', async () => {
    const wanted = await freePort();
    expect(await choosePort(wanted, { except: wanted })).not.toBe(wanted);
  });
});
