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
  readonly email: string;
  readonly ip: string;
}

/** Counts failed sign-ins, and refuses more of them. */
export interface SignInLimits {
  /** @throws HttpProblem `rate_limited` when too many failed before; the password is not even looked at. */
  check(attempt: SignInTry): void;
  failed(attempt: SignInTry): void;
  /** A success forgives what failed from the same address before. */
  succeeded(attempt: SignInTry): void;
}

/** Limits of this process: per account and address, per account, and per address. */
export function createSignInLimits(nowMs: () => number): SignInLimits {
  const failures = new Map<string, number[]>();
  const recent = (key: string, { withinMs }: Allowance): readonly number[] =>
    (failures.get(key) ?? []).filter((at) => at > nowMs() - withinMs);
  return {
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
  };
}

function bucketsOf({ email, ip }: SignInTry) {
  const address = ipKeyGenerator(ip, 64);
  return [
    [`both:${email}:${address}`, perAccountAndAddress],
    [`account:${email}`, perAccount],
    [`address:${address}`, perAddress],
  ] as const;
}
