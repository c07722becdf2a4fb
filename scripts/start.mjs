/**
 * `npm start -- [options]`: runs `holdfast up` and ends as it ends. The command learns through the
 * channel between the two that it is to stop, and stops in an orderly way also when this process
 * is killed.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { onLauncherGone } from './start/launchers.mjs';

// npm passes Ctrl-C on although the terminal has done so already; that is one request, not two.
const echoMs = 1_000;

const command = join(import.meta.dirname, '..', 'apps', 'cli', 'bin', 'holdfast.js');
const child = spawn(process.execPath, [command, 'up', ...process.argv.slice(2)], {
  stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
});

let firstSignalAt;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => passOn(signal));
onLauncherGone(() => passOn('SIGTERM'));

child.once('error', (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
child.once('exit', (code) => {
  process.exit(code ?? 1);
});

function passOn(signal) {
  const now = performance.now();
  firstSignalAt ??= now;
  if (child.connected) child.disconnect();
  else if (now - firstSignalAt > echoMs) child.kill(signal);
}
