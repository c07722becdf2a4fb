import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError, isRecord } from '@holdfast/domain';
import type { JobDefinition } from '../job-definition.ts';

/**
 * The definitions that modules export, alone or in arrays, by type. Those of an object as default count as well: it may be
 * all that is known of a CommonJS module.
 *
 * @param paths relative to the working directory, or absolute
 * @throws ConfigError when a module cannot be loaded, exports no definition, or two define one type
 */
export async function readBuild(
  paths: readonly string[],
): Promise<ReadonlyMap<string, JobDefinition>> {
  const build = new Map<string, JobDefinition>();
  for (const path of paths) {
    const { default: main, ...named } = await load(path);
    const inMain = isRecord(main) && !isDefinition(main) ? Object.values(main) : [main];
    const found = [...Object.values(named), ...inMain]
      .flatMap((value): readonly unknown[] => (Array.isArray(value) ? value : [value]))
      .filter(isDefinition);
    if (found.length === 0)
      throw new ConfigError(`${path} exports no definition of a job, alone or in an array`);
    for (const definition of found) {
      const known = build.get(definition.type) ?? definition;
      if (known !== definition) {
        throw new ConfigError(`${path} defines "${definition.type}", which is defined already`);
      }
      build.set(definition.type, definition);
    }
  }
  return build;
}

async function load(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const module: unknown = await import(pathToFileURL(resolve(path)).href);
    return { ...(module as object) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`${path} cannot be loaded: ${reason}`, { cause: error });
  }
}

/** Also one that another copy of this package has made. */
function isDefinition(value: unknown): value is JobDefinition {
  return (
    isRecord(value) &&
    typeof value['type'] === 'string' &&
    typeof value['version'] === 'number' &&
    isRecord(value['upgrades']) &&
    isRecord(value['defaults'])
  );
}
