import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

interface RecordedLink {
  readonly source: string;
  readonly target: string;
}

/**
 * Makes the shared-library links that npm packages cannot carry, from `pg-symlinks.json`. The
 * package's own install script does the same, but npm may be told not to run it.
 * Returns false when links are missing and the folder cannot be written.
 */
export function hydrateSymlinks(nativeFolder: string): boolean {
  try {
    for (const link of recordedLinks(nativeFolder)) makeLink(nativeFolder, link);
    return true;
  } catch {
    return false;
  }
}

function makeLink(nativeFolder: string, { source, target }: RecordedLink): void {
  // Recorded from the package's root: native/lib/libpq.so.5.17 and native/lib/libpq.so
  const linkPath = join(nativeFolder, '..', target);
  if (existsSync(linkPath)) return;
  try {
    symlinkSync(basename(source), linkPath);
  } catch (error) {
    if (!isAlreadyThere(error)) throw error;
  }
}

function isAlreadyThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

function recordedLinks(nativeFolder: string): readonly RecordedLink[] {
  const list = join(nativeFolder, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const parsed: unknown = JSON.parse(readFileSync(list, 'utf8'));
  return Array.isArray(parsed) ? parsed.filter(isRecordedLink) : [];
}

function isRecordedLink(value: unknown): value is RecordedLink {
  if (typeof value !== 'object' || value === null) return false;
  if (!('source' in value) || !('target' in value)) return false;
  return typeof value.source === 'string' && typeof value.target === 'string';
}
