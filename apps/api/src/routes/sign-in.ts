import type { RouteName } from '@holdfast/contract';
import { findUserByEmail, redeemSignInTicket } from '@holdfast/database';
import type { SignInLimits } from '../auth/sign-in-limits.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { HttpProblem } from '../http/problem.ts';
import { signIn } from '../session-answers.ts';

/** Signing in with a password or by a one-time link. */
export function signInHandlers(
  deps: Dependencies,
  limits: SignInLimits,
): Handlers<Extract<RouteName, 'login' | 'redeemTicket'>> {
  const { database, passwords } = deps;
  return {
    async login(call) {
      const attempt = { email: call.body.email.toLowerCase(), ip: call.request.ip ?? '' };
      limits.check(attempt);
      const user = await findUserByEmail(database, attempt.email);
      const stored = user?.disabled === false ? user.password_hash : undefined;
      const isRight = await passwords.verify(stored, call.body.password);
      if (!isRight || user === undefined) {
        limits.failed(attempt);
        call.logger.warn({ ip: attempt.ip }, 'sign-in failed');
        throw new HttpProblem('credentials_invalid');
      }
      limits.succeeded(attempt);
      return signIn(deps, call, { userId: user.id, method: 'password' });
    },

    async redeemTicket(call) {
      const attempt = { email: 'ticket', ip: call.request.ip ?? '' };
      limits.check(attempt);
      const userId = await redeemSignInTicket(database, call.body.ticket);
      if (userId === undefined) {
        limits.failed(attempt);
        throw new HttpProblem('ticket_invalid');
      }
      return signIn(deps, call, { userId, method: 'ticket' });
    },
  };
}
