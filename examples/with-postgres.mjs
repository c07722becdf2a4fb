/**
 * Runs a command with a PostgreSQL for it: `node with-postgres.mjs node worker.js`. When DATABASE_URL is set, the command
 * gets that one. Otherwise it is the embedded server of the checkout, the same that `npm start` has: what runs already is
 * used, and else it is started for as long as the command runs, and so for others that use it meanwhile.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { startPostgres } from '@holdfast/embedded-postgres';

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('Usage: node with-postgres.mjs <command> [arguments]');
  process.exit(1);
}

const dataDir = process.env.HOLDFAST_DATA_DIR ?? join(import.meta.dirname, '..', '.holdfast');
const server =
  process.env.DATABASE_URL === undefined
    ? await startPostgres({ dataDir: join(dataDir, 'pg'), onProgress: console.error })
    : undefined;

const child = spawn(command, args, {
  stdio: 'inherit',
  env: { DATABASE_URL: server?.url, ...process.env },
});
// Ctrl-C reaches the command by itself; here it must only not come first.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.once('error', (error) => {
  console.error(error.message);
});
child.once('close', (code) => {
  process.exitCode = code ?? 1;
  void server?.stop();
});
