import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { Holdfast } from 'holdfast';
import type { HoldfastOptions } from 'holdfast';

/** A `Holdfast` on a database of its own. */
export interface TestHoldfast {
  readonly holdfast: Holdfast;
  readonly server: TestDatabase;
  close(): Promise<void>;
}

/** Makes one; `more` goes to the constructor. */
export async function openHoldfast(
  more: Omit<HoldfastOptions, 'connectionString' | 'pool' | 'adapter'> = {},
): Promise<TestHoldfast> {
  const server = await createTestDatabase();
  const holdfast = new Holdfast({ connectionString: server.url, ...more });
  return {
    holdfast,
    server,
    async close() {
      await holdfast.close();
      await server.drop();
    },
  };
}
