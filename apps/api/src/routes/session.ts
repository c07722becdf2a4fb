import type { RouteName } from '@holdfast/contract';
import { readUser, revokeSessionsOfUser, updatePassword } from '@holdfast/database';
import { clearRefreshCookie, readRefreshCookie } from '../auth/refresh-cookie.ts';
import { endSession, rotateSession } from '../auth/sessions.ts';
import type { SignInLimits } from '../auth/sign-in-limits.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Handlers } from '../http/call.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { openSession, presentUser, signIn } from '../session-answers.ts';

/** What somebody who is signed in does with the session. */
export function sessionHandlers(
  deps: Dependencies,
  limits: SignInLimits,
): Handlers<Extract<RouteName, 'refresh' | 'logout' | 'getMe' | 'changePassword'>> {
  const { database, passwords } = deps;
  return {
    async refresh(call) {
      const refreshToken = readRefreshCookie(call.request);
      if (refreshToken === undefined) throw new HttpProblem('session_invalid');
      const rotation = await rotateSession(database, { refreshToken, key: deps.keys.refresh });
      if (rotation.kind === 'rotated') return openSession(deps, call, rotation.session);
      clearRefreshCookie(call.request, call.response);
      if (rotation.kind === 'reused') {
        const { userId, sessionId } = rotation;
        call.logger.warn({ userId, sessionId }, 'refresh token reused; session ended');
      }
      throw new HttpProblem('session_invalid');
    },

    async logout(call) {
      const refreshToken = readRefreshCookie(call.request);
      if (refreshToken !== undefined) await endSession(database, refreshToken);
      clearRefreshCookie(call.request, call.response);
      return { body: undefined };
    },

    async getMe(call) {
      return { body: await presentUser(deps, call.principal.userId) };
    },

    async changePassword(call) {
      const { userId } = call.principal;
      const { currentPassword, newPassword } = call.body;
      const attempt = { email: `change:${userId}`, ip: call.request.ip ?? '' };
      const isRight = await limits.attempt(attempt, async () => {
        const user = await readUser(database, userId);
        return (await passwords.verify(user?.password_hash, currentPassword)) || undefined;
      });
      if (isRight === undefined) {
        throw validationFailed([{ pointer: '/currentPassword', detail: 'is not the password' }]);
      }
      if (newPassword === currentPassword) {
        throw validationFailed([{ pointer: '/newPassword', detail: 'must be another one' }]);
      }
      const passwordHash = await passwords.hash(newPassword);
      await database.transaction(async (tx) => {
        await updatePassword(tx, userId, passwordHash);
        await revokeSessionsOfUser(tx, userId, 'password_changed');
      });
      return signIn(deps, call, { userId, method: 'password' });
    },
  };
}
