import { readFileSync } from 'node:fs';

const packageFile = new URL('../package.json', import.meta.url);
// Our own file, whose version npm requires to be a text.
const { version: packageVersion } = JSON.parse(readFileSync(packageFile, 'utf8')) as {
  readonly version: string;
};

/** The version of this build. */
export const version = packageVersion;
