import { hash, verify } from '@node-rs/argon2';
import { HttpProblem, validationFailed } from '../http/problem.ts';

// OWASP's minimum for argon2id, which is the library's default kind; about 30 ms on one core.
const parameters = {
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

const concurrentHashes = 4;
const waitingHashes = 64;
const longestPasswordBytes = 1_024;

/** Hashes and checks passwords, a few at a time, so that sign-ins cannot take the whole machine. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /** Takes as long for a person who does not exist (`undefined`) as for one who does. */
  verify(stored: string | undefined, password: string): Promise<boolean>;
}

/** Passwords by argon2id. */
export async function createPasswords(): Promise<Passwords> {
  const gate = createGate();
  const nobody = await hash('nobody has this password', parameters);
  return {
    hash(password) {
      refuseLong(password);
      return gate(() => hash(password, parameters));
    },
    async verify(stored, password) {
      refuseLong(password);
      const matches = await gate(() => verify(stored ?? nobody, password));
      return matches && stored !== undefined;
    },
  };
}

// Before any hashing: the cost of a hash must not depend on what a stranger sends.
function refuseLong(password: string): void {
  if (Buffer.byteLength(password) <= longestPasswordBytes) return;
  const detail = `must have at most ${String(longestPasswordBytes)} bytes`;
  throw validationFailed([{ pointer: '/password', detail }]);
}

function createGate(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= concurrentHashes) {
      if (waiting.length >= waitingHashes) {
        throw new HttpProblem('overloaded', { headers: { 'retry-after': '2' } });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else running += 1;
    try {
      return await work();
    } finally {
      // A place is handed on, not given back, so that nobody overtakes the queue.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
