import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';

const folders: string[] = [];

/** A new folder that every account can enter, removed after the test. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-embedded-'));
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

/** Removes the folders; call it once, outside of the tests. */
export function removeScratchFoldersAfterEach(): void {
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
}
