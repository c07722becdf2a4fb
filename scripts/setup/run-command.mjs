import { spawn } from 'node:child_process';

/** A command ended badly; `output` is everything that it printed. */
export class CommandError extends Error {
  constructor(title, output) {
    super(`${title} failed`);
    this.output = output;
  }
}

/** Runs a Node script quietly and gives back its output; throws CommandError when it fails. */
export function runNode(title, args, { cwd }) {
  return runQuietly(title, { command: process.execPath, args, cwd });
}

/** Runs a command quietly and gives back its output; throws CommandError when it fails. */
export function runQuietly(title, { command, args, cwd, shell = false }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    }
    child.once('error', (error) => reject(new CommandError(title, error.message)));
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new CommandError(title, output));
    });
  });
}
