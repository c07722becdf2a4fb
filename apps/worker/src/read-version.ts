import { readFileSync } from 'node:fs';

/** The version of this application, as its package says. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version }: { readonly version?: unknown } = JSON.parse(text);
  return typeof version === 'string' ? version : 'unknown';
}
