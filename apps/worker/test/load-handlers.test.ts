import { fileURLToPath } from 'node:url';
import { ConfigError } from '@holdfast/domain';
import { describe, expect, it } from 'vitest';
import { loadHandlers } from '../src/load-handlers.ts';

function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));
}

describe('a handlers module', () => {
  it.each(['named-handlers', 'default-handlers', 'isolated-handlers'])(
    'may export as %s do',
    async (name) => {
      expect(Object.keys(await loadHandlers(fixture(name)))).toEqual(['greet']);
    },
  );

  it.each([
    ['no-handlers', 'must export "handlers"'],
    ['odd-handlers', 'the handler of "greet" is not a function'],
    ['defined-handlers', '"greet" is a definition made by defineJob, which createWorker'],
    ['oddly-isolated-handlers', 'the entry of "greet" must have isolate: "thread"'],
    ['unknown-fields', 'the entry of "greet" has an unknown field "memory"'],
    ['broken-handlers', 'cannot be loaded: missing credentials'],
    ['nothing-here', 'cannot be loaded'],
  ])('is refused when it is like %s', async (name, problem) => {
    const loaded = loadHandlers(fixture(name));
    await expect(loaded).rejects.toBeInstanceOf(ConfigError);
    await expect(loaded).rejects.toThrow(problem);
  });
});
