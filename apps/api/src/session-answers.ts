import type { Session, User } from '@holdfast/contract';
import { readUser } from '@holdfast/database';
import { accessTokenSeconds } from './auth/access-tokens.ts';
import { setRefreshCookie } from './auth/refresh-cookie.ts';
import { startSession } from './auth/sessions.ts';
import type { OpenSession } from './auth/sessions.ts';
import type { Dependencies } from './dependencies.ts';
import type { Answer, Call } from './http/call.ts';
import { HttpProblem } from './http/problem.ts';
import { presentInstant } from './presenters/instant.ts';

type CookieCall = Pick<Call<'login'>, 'request' | 'response'>;

/** Starts a session and answers it; its refresh token goes into the cookie. */
export async function signIn(
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

/** Answers a session; its refresh token goes into the cookie. */
export async function openSession(
  deps: Dependencies,
  { request, response }: CookieCall,
  session: OpenSession,
): Promise<Answer<Session>> {
  const user = await presentUser(deps, session.userId);
  const accessToken = await deps.tokens.sign(session);
  setRefreshCookie(request, response, session.refreshToken);
  return { body: { accessToken, expiresIn: accessTokenSeconds, user } };
}

/**
 * A person as answered.
 *
 * @throws HttpProblem `session_invalid` when the person is gone
 */
export async function presentUser({ database }: Dependencies, userId: string): Promise<User> {
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
