import { ipKeyGenerator } from 'express-rate-limit';
import { HttpProblem } from '../http/problem.ts';

/** Failures that are forgiven within a time. */
interface Allowance {
  readonly failures: number;
  readonly withinMs: number;
}

const minuteMs = 60_000;
const perAccountAndAddress: Allowance = { failures: 5, withinMs: 15 * minuteMs };
const perAccount: Allowance = { failures: 20, withinMs: 60 * minuteMs };
const perAddress: Allowance = { failures: 100, withinMs: 60 * minuteMs };

// Bounds what an attacker with many names and addresses makes us remember.
const mostEntries = 50_000;

/** Who tries to sign in, from where. */
export interface SignInTry {
  /** `undefined` for a ticket, which names nobody: then only the address counts, so that no stranger can block others. */
  readonly email: string | undefined;
  readonly ip: string;
}

/** Counts failed sign-ins, and refuses more of them. */
export interface SignInLimits {
  /** @throws HttpProblem `rate_limited` when too many failed before; the password is not even looked at. */
  check(attempt: SignInTry): void;
  failed(attempt: SignInTry): void;
  /** A success forgives what failed from the same address before. */
  succeeded(attempt: SignInTry): void;
  /**
   * Checks, then looks at the secret, then counts how that ended; `undefined` is a failure. Attempts at one account
   * take turns, so that many at once are not all let through before the first has failed.
   *
   * @throws HttpProblem `rate_limited`
   */
  attempt<Result>(
    attempt: SignInTry,
    look: () => Promise<Result | undefined>,
  ): Promise<Result | undefined>;
}

/** Limits of this process: per account and address, per account, and per address. */
export function createSignInLimits(nowMs: () => number): SignInLimits {
  const failures = new Map<string, number[]>();
  const inTurn = createTurns();
  const recent = (key: string, { withinMs }: Allowance): readonly number[] =>
    (failures.get(key) ?? []).filter((at) => at > nowMs() - withinMs);
  const limits: SignInLimits = {
    check(attempt) {
      for (const [key, allowance] of bucketsOf(attempt)) {
        const times = recent(key, allowance);
        const [oldest] = times.slice(-allowance.failures);
        if (oldest === undefined || times.length < allowance.failures) continue;
        const waitMs = oldest + allowance.withinMs - nowMs();
        const retryAfter = String(Math.max(1, Math.ceil(waitMs / 1_000)));
        throw new HttpProblem('rate_limited', { headers: { 'retry-after': retryAfter } });
      }
    },
    failed(attempt) {
      if (failures.size > mostEntries) failures.clear();
      for (const [key, allowance] of bucketsOf(attempt)) {
        failures.set(key, [...recent(key, allowance), nowMs()]);
      }
    },
    succeeded(attempt) {
      const [[pair]] = bucketsOf(attempt);
      failures.delete(pair);
    },
    attempt(attempt, look) {
      return inTurn(attempt.email ?? `:${ipKeyGenerator(attempt.ip, 64)}`, async () => {
        limits.check(attempt);
        const found = await look();
        if (found === undefined) limits.failed(attempt);
        else limits.succeeded(attempt);
        return found;
      });
    },
  };
  return limits;
}

/** Runs work of one key one after the other. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work);
    // The next turn comes however this one ended.
    const ended = mine.catch(() => undefined);
    last.set(key, ended);
    try {
      return await mine;
    } finally {
      if (last.get(key) === ended) last.delete(key);
    }
  };
}

function bucketsOf({ email, ip }: SignInTry) {
  const address = ipKeyGenerator(ip, 64);
  const shared = [[`address:${address}`, perAddress]] as const;
  const pair = [`both:${email ?? ''}:${address}`, perAccountAndAddress] as const;
  return email === undefined
    ? ([pair, ...shared] as const)
    : ([pair, [`account:${email}`, perAccount], ...shared] as const);
}
