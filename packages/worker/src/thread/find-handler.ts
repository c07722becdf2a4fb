import { HoldfastError, isRecord } from '@holdfast/domain';
import type { JobHandler } from '../handler.ts';

/**
 * Finds what a module exports for a job type: the named export; else an exported definition (`type` and `run`), alone or
 * in a list; else the type's entry in an exported map called `handlers`, or in the default export.
 *
 * @throws HoldfastError `handler_missing`
 */
export function findHandler(
  module: Readonly<Record<string, unknown>>,
  wanted: { readonly type: string; readonly exportName: string | undefined },
): unknown {
  const { type, exportName } = wanted;
  const found =
    exportName === undefined
      ? (findDefinition(Object.values(module), type) ?? findEntry(module, type))
      : module[exportName];
  if (found !== undefined) return found;
  const what = exportName === undefined ? `handler for "${type}"` : `"${exportName}"`;
  throw new HoldfastError(`The module exports no ${what}`, { code: 'handler_missing' });
}

/**
 * The function of what was found: itself, its `run`, or its `handler`.
 *
 * @throws HoldfastError `handler_missing`
 */
export function adaptHandler(found: unknown, type: string): JobHandler {
  if (isFunction(found)) return found;
  if (isRecord(found)) {
    for (const name of ['run', 'handler']) {
      const method = found[name];
      if (isFunction(method)) return (payload, context) => method.call(found, payload, context);
    }
  }
  throw new HoldfastError(`What the module exports for "${type}" is no handler`, {
    code: 'handler_missing',
  });
}

function findDefinition(values: readonly unknown[], type: string): unknown {
  const candidates = values.flatMap((value): readonly unknown[] =>
    Array.isArray(value) ? value : [value],
  );
  return candidates.find(
    (value) => isRecord(value) && value['type'] === type && isFunction(value['run']),
  );
}

function findEntry(module: Readonly<Record<string, unknown>>, type: string): unknown {
  const maps = [module['handlers'], module['default']].filter(isRecord);
  return maps.find((map) => Object.hasOwn(map, type))?.[type];
}

function isFunction(value: unknown): value is JobHandler {
  return typeof value === 'function';
}
