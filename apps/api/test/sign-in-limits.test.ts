import { describe, expect, it } from 'vitest';
import { createSignInLimits } from '../src/auth/sign-in-limits.ts';
import type { SignInTry } from '../src/auth/sign-in-limits.ts';

const minuteMs = 60_000;

function limitsAt() {
  const time = { nowMs: 1_000_000 };
  const limits = createSignInLimits(() => time.nowMs);
  const isRefused = (attempt: SignInTry): boolean => {
    try {
      limits.check(attempt);
      return false;
    } catch {
      return true;
    }
  };
  const fail = (attempt: SignInTry, times: number): void => {
    for (let at = 0; at < times; at += 1) limits.failed(attempt);
  };
  return { time, limits, isRefused, fail };
}

describe('failed sign-ins', () => {
  it('stop one account from one address after five, for a quarter of an hour', () => {
    const { time, isRefused, fail } = limitsAt();
    const attempt = { email: 'a@example.com', ip: '10.0.0.1' };
    fail(attempt, 4);
    expect(isRefused(attempt)).toBe(false);
    fail(attempt, 1);
    expect(isRefused(attempt)).toBe(true);
    expect(isRefused({ ...attempt, ip: '10.0.0.2' })).toBe(false);
    time.nowMs += 15 * minuteMs + 1;
    expect(isRefused(attempt)).toBe(false);
  });

  it('are forgiven by a success', () => {
    const { limits, isRefused, fail } = limitsAt();
    const attempt = { email: 'a@example.com', ip: '10.0.0.1' };
    fail(attempt, 4);
    limits.succeeded(attempt);
    fail(attempt, 4);
    expect(isRefused(attempt)).toBe(false);
  });

  it('stop one address after a hundred, whoever it tries to be', () => {
    const { isRefused, fail } = limitsAt();
    for (let at = 0; at < 100; at += 1)
      fail({ email: `${String(at)}@example.com`, ip: '10.0.0.1' }, 1);
    expect(isRefused({ email: 'new@example.com', ip: '10.0.0.1' })).toBe(true);
    expect(isRefused({ email: 'new@example.com', ip: '10.0.0.2' })).toBe(false);
  });

  it('count all addresses of one IPv6 network as one', () => {
    const { isRefused, fail } = limitsAt();
    for (let at = 0; at < 5; at += 1) {
      fail({ email: 'a@example.com', ip: `2001:db8:1:2::${String(at)}` }, 1);
    }
    expect(isRefused({ email: 'a@example.com', ip: '2001:db8:1:2:ffff::1' })).toBe(true);
    expect(isRefused({ email: 'a@example.com', ip: '2001:db8:1:3::1' })).toBe(false);
  });

  it('are counted one by one when many come at once', async () => {
    const { limits } = limitsAt();
    const attempt = { email: 'a@example.com', ip: '10.0.0.1' };
    let looks = 0;
    const tries = Array.from({ length: 20 }, () =>
      limits.attempt(attempt, async () => {
        looks += 1;
        await Promise.resolve();
        return undefined;
      }),
    );
    const ends = await Promise.allSettled(tries);
    expect(looks).toBe(5);
    expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(15);
  });

  it('do not stop people who sign in rightly all at once', async () => {
    const { limits } = limitsAt();
    const attempt = { email: 'a@example.com', ip: '10.0.0.1' };
    const tries = Array.from({ length: 20 }, () =>
      limits.attempt(attempt, () => Promise.resolve('a')),
    );
    expect(await Promise.all(tries)).toEqual(Array.from({ length: 20 }, () => 'a'));
  });

  it('with tickets from one address block no ticket from another', () => {
    const { isRefused, fail } = limitsAt();
    for (let at = 0; at < 10; at += 1) fail({ email: undefined, ip: `10.0.1.${String(at)}` }, 4);
    expect(isRefused({ email: undefined, ip: '10.0.0.2' })).toBe(false);
  });
});
