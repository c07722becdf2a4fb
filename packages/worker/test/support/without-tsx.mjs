/** For `--import`: in this thread nobody has installed tsx. */
import { register } from 'node:module';

const hooks = `export function resolve(specifier, context, next) {
  if (specifier.includes('tsx')) throw Object.assign(new Error('no ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
