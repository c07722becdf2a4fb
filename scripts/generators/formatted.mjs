import { join } from 'node:path';

/** A generated file in the format that `npm run format` would give it. */
export async function formatted(root, { path, text }) {
  // Not needed, and perhaps not installed, where only the build's files are generated.
  const { format, resolveConfig } = await import('prettier');
  const filepath = join(root, path);
  return { path, text: await format(text, { ...(await resolveConfig(filepath)), filepath }) };
}
