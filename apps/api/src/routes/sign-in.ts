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
      const user = await limits.attempt(attempt, async () => {
        const found = await findUserByEmail(database, attempt.email);
        const stored = found?.disabled === false ? found.password_hash : undefined;
        return (await passwords.verify(stored, call.body.password)) ? found : undefined;
      });
      if (user === undefined) {
        call.logger.warn({ ip: attempt.ip }, 'sign-in failed');
        throw new HttpProblem('credentials_invalid');
      }
      return signIn(deps, call, { userId: user.id, method: 'password' });
    },

    async redeemTicket(call) {
      const attempt = { email: undefined, ip: call.request.ip ?? '' };
      const userId = await limits.attempt(attempt, () =>
        redeemSignInTicket(database, call.body.ticket),
      );
      if (userId === undefined) throw new HttpProblem('ticket_invalid');
      return signIn(deps, call, { userId, method: 'ticket' });
    },
  };
}
