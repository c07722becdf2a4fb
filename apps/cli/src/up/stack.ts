import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConfigError } from '@holdfast/domain';

/** The files that `holdfast up` runs. */
export interface StackFiles {
  readonly api: string;
  readonly worker: string;
  readonly scheduler: string;
  /** Undefined when the dashboard has not been built. */
  readonly webRoot: string | undefined;
  readonly demoTarget: string;
  readonly demoHandlers: string;
  readonly demoPlan: string;
}

/**
 * Finds the built applications of the checkout that this command belongs to.
 *
 * @throws ConfigError when they have not been built
 */
export function findStackFiles(): StackFiles {
  const root = resolve(import.meta.dirname, '../../../..');
  const built = (app: string): string => {
    const file = join(root, 'apps', app, 'dist', 'main.js');
    if (existsSync(file)) return file;
    throw new ConfigError(`apps/${app} has not been built: run "npm run build"`);
  };
  const webRoot = join(root, 'apps', 'web', 'dist');
  const demo = join(root, 'examples', 'demo');
  return {
    api: built('api'),
    worker: built('worker'),
    scheduler: built('scheduler'),
    webRoot: existsSync(join(webRoot, 'index.html')) ? webRoot : undefined,
    demoTarget: join(demo, 'dist', 'main.js'),
    demoHandlers: join(demo, 'dist', 'handlers.js'),
    demoPlan: join(demo, 'plan.json'),
  };
}
