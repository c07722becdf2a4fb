/**
 * `npm run reset`: forgets everything that `npm start` keeps, which is its database, its secret, the
 * first password and its logs. Files that it does not know are left where they are.
 */
import { existsSync, readdirSync, rmSync, rmdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');
const folder = resolve(root, process.env.HOLDFAST_DATA_DIR ?? '.holdfast');
const ownEntries = ['admin-password', 'logs', 'secret'];

if (!existsSync(folder)) {
  console.log(`Nothing to remove: ${folder} does not exist`);
} else {
  try {
    await removeDatabase();
    for (const name of ownEntries) rmSync(join(folder, name), { recursive: true, force: true });
    reportRest();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}

async function removeDatabase() {
  const entry = join(root, 'packages', 'embedded-postgres', 'dist', 'index.js');
  // Without a build there was no start, and so there is no database.
  if (!existsSync(entry)) return;
  const { removeDataDirectory } = await import(pathToFileURL(entry));
  removeDataDirectory({ dataDir: join(folder, 'pg') });
}

function reportRest() {
  const rest = readdirSync(folder);
  if (rest.length === 0) rmdirSync(folder);
  console.log(
    rest.length === 0 ? `Removed ${folder}` : `Emptied ${folder}, except for ${rest.join(', ')}`,
  );
}
