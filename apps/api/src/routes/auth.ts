import type { RouteName, Session, User } from '@holdfast/contract';
import {
  findUserByEmail,
  readUser,
  redeemSignInTicket,
  revokeSessionsOfUser,
  updatePassword,
} from '@holdfast/database';
import { accessTokenSeconds } from '../auth/access-tokens.ts';
import { clearRefreshCookie, readRefreshCookie, setRefreshCookie } from '../auth/refresh-cookie.ts';
import { endSession, rotateSession, startSession } from '../auth/sessions.ts';
import type { OpenSession } from '../auth/sessions.ts';
import { createSignInLimits } from '../auth/sign-in-limits.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Answer, Call, Handlers } from '../http/call.ts';
import { HttpProblem, validationFailed } from '../http/problem.ts';
import { presentInstant } from '../presenters/instant.ts';

type AuthRoute = Extract<
  RouteName,
  'login' | 'redeemTicket' | 'refresh' | 'logout' | 'getMe' | 'changePassword'
>;

/** Signing in and out. */
export function authHandlers(deps: Dependencies): Handlers<AuthRoute> {
  const { database, passwords } = deps;
  const limits = createSignInLimits(() => deps.clock.nowMs());

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
      limits.check(attempt);
      const user = await readUser(database, userId);
      if (!(await passwords.verify(user?.password_hash, currentPassword))) {
        limits.failed(attempt);
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

type CookieCall = Pick<Call<'login'>, 'request' | 'response'>;

async function signIn(
  deps: Dependencies,
  call: CookieCall,
  who: { readonly userId: string; readonly method: 'password' | 'ticket' },
): Promise<Answer<Session>> {
  const session = await deps.database.transaction((tx) =>
    startSession(tx, {
      ...who,
      userAgent: call.request.get('user-agent')?.slice(0, 500),
      ip: call.request.ip,
      nowMs: deps.clock.nowMs(),
    }),
  );
  return openSession(deps, call, session);
}

async function openSession(
  deps: Dependencies,
  { request, response }: CookieCall,
  session: OpenSession,
): Promise<Answer<Session>> {
  const user = await presentUser(deps, session.userId);
  const accessToken = await deps.tokens.sign(session);
  setRefreshCookie(request, response, session.refreshToken);
  return { body: { accessToken, expiresIn: accessTokenSeconds, user } };
}

async function presentUser({ database }: Dependencies, userId: string): Promise<User> {
  const user = await readUser(database, userId);
  if (user === undefined || user.disabled) throw new HttpProblem('session_invalid');
  return {
    id: user.id,
    email: user.email,
    passwordChangeRequired: user.password_change_required,
    memberships: user.memberships,
    createdAt: presentInstant(user.created_at),
  };
}
