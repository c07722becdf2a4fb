import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A folder that every account can enter, and that outlives a restart of the machine where one does. */
export function defaultCacheDir(): string {
  return process.platform !== 'win32' && existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
}
