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
      const { handlers, payloadVersions } = await loadHandlers(fixture(name));
      expect(Object.keys(handlers)).toEqual(['greet']);
      expect(payloadVersions).toEqual({});
    },
  );

  it('may say which versions of a payload a handler takes', async () => {
    const { handlers, payloadVersions } = await loadHandlers(fixture('versioned-handlers'));
    expect(payloadVersions).toEqual({ greet: [1, 2], part: [3] });
    expect(typeof handlers['greet']).toBe('function');
    expect(handlers['part']).toMatchObject({ isolate: 'thread' });
  });

  it.each([
    ['no-handlers', 'must export "handlers"'],
    ['odd-handlers', 'the handler of "greet" is not a function'],
    ['defined-handlers', '"greet" is a definition made by defineJob, which createWorker'],
    ['oddly-isolated-handlers', 'the entry of "greet" must have isolate: "thread"'],
    ['oddly-versioned-handlers', 'payloadVersions of "greet" must be an array of whole numbers'],
    ['unknown-fields', 'the entry of "greet" has an unknown field "memory"'],
    ['broken-handlers', 'cannot be loaded: missing credentials'],
    ['nothing-here', 'cannot be loaded'],
  ])('is refused when it is like %s', async (name, problem) => {
    const loaded = loadHandlers(fixture(name));
    await expect(loaded).rejects.toBeInstanceOf(ConfigError);
    await expect(loaded).rejects.toThrow(problem);
  });
});
