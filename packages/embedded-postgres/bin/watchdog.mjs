/**
 * Stops a PostgreSQL server when the process that started it is gone, however it died. It holds the
 * reading end of a pipe; the operating system closes the other end together with its process.
 *
 * Started with one JSON argument: { pgCtl, dataDir, uid?, gid? }. Ends without doing anything when
 * it reads a byte, which says that the server was stopped in an orderly way.
 */
import { spawnSync } from 'node:child_process';

const { pgCtl, dataDir, uid, gid } = JSON.parse(process.argv[2]);

process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('SIGHUP', () => {});

process.stdin.once('data', () => process.exit(0));
process.stdin.once('error', stopServer);
process.stdin.once('end', stopServer);

function stopServer() {
  for (const mode of ['fast', 'immediate']) {
    const stop = spawnSync(pgCtl, ['stop', '-D', dataDir, '-m', mode, '-t', '20'], {
      uid,
      gid,
      cwd: '/',
      stdio: 'ignore',
    });
    if (stop.status === 0) break;
  }
  process.exit(0);
}
