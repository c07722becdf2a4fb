import { readFileSync } from 'node:fs';

/** The version of this application, as its package says. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  // Our own file, whose version npm requires to be a text.
  const { version } = JSON.parse(text) as { readonly version: string };
  return version;
}
