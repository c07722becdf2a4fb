/** After `npm pack`: the folder is again as it was before. */
import { join } from 'node:path';
import { restore } from './staged-files.mjs';

restore(join(import.meta.dirname, '..'));
