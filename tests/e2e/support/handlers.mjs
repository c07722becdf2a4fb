import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';

const askEveryMs = 20;

function isOpen(gate) {
  return existsSync(join(process.env['E2E_GATES'], gate));
}

/** Runs until its gate opens, or until it is told to stop. */
async function hold({ gate }, context) {
  context.log.info('waiting for the gate', { gate });
  while (!isOpen(gate)) await delay(askEveryMs, undefined, { signal: context.signal });
  return { gate };
}

/** Fails as often as the payload says, then works. */
function flaky({ failures }, { attempt }) {
  if (attempt <= failures) throw new Error(`attempt ${attempt} failed on purpose`);
  return { attempts: attempt };
}

/** Fails for good while its gate is shut, as a service that somebody has to mend. */
function mendable({ gate }) {
  if (isOpen(gate)) return { mended: true };
  throw Object.assign(new Error(`the gate ${gate} is shut`), { code: 'gate_shut' });
}

/** Gives back and logs what it was given, and fails with it when told to. */
function echo(payload, context) {
  context.log.warn(payload.text, { text: payload.text });
  if (payload.fails) throw new Error(payload.text);
  return payload;
}

export const handlers = { hold, flaky, mendable, echo };
