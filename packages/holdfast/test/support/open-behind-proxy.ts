import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { Holdfast } from 'holdfast';
import { startCuttingProxy } from './cutting-proxy.ts';
import type { CuttingProxy } from './cutting-proxy.ts';

/** A `Holdfast` that reaches a database of its own through a proxy. */
export interface HoldfastBehindProxy {
  readonly holdfast: Holdfast;
  readonly proxy: CuttingProxy;
  readonly server: TestDatabase;
  close(): Promise<void>;
}

/** Makes one. */
export async function openBehindProxy(): Promise<HoldfastBehindProxy> {
  const server = await createTestDatabase();
  const proxy = await startCuttingProxy(server.url);
  const holdfast = new Holdfast({ connectionString: proxy.url });
  return {
    holdfast,
    proxy,
    server,
    async close() {
      // First the proxy: connections that have fallen silent would keep the other waiting.
      await proxy.close();
      await holdfast.close();
      await server.drop();
    },
  };
}
