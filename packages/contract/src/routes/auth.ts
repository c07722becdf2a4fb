import { z } from 'zod';
import { route } from '../route.ts';
import { LoginInput, PasswordInput, Session, TicketInput, User } from '../schemas/auth.ts';

const tag = 'Sign-in';

/** Signing in and out. */
export const authRoutes = {
  login: route({
    method: 'post',
    path: '/api/v1/auth/login',
    tag,
    summary: 'Sign in with e-mail and password; sets the refresh cookie',
    access: { kind: 'public' },
    body: LoginInput,
    statuses: [200],
    response: Session,
  }),
  redeemTicket: route({
    method: 'post',
    path: '/api/v1/auth/ticket',
    tag,
    summary: 'Sign in with the ticket of a one-time link; sets the refresh cookie',
    access: { kind: 'public' },
    body: TicketInput,
    statuses: [200],
    response: Session,
  }),
  refresh: route({
    method: 'post',
    path: '/api/v1/auth/refresh',
    tag,
    summary: 'Get a new access token for the refresh cookie, and a new cookie',
    access: { kind: 'session_cookie' },
    body: z.strictObject({}),
    statuses: [200],
    response: Session,
  }),
  logout: route({
    method: 'post',
    path: '/api/v1/auth/logout',
    tag,
    summary: 'End the session of the refresh cookie',
    access: { kind: 'session_cookie' },
    body: z.strictObject({}),
    statuses: [204],
    response: undefined,
  }),
  getMe: route({
    method: 'get',
    path: '/api/v1/auth/me',
    tag,
    summary: 'Who is signed in',
    access: { kind: 'person' },
    statuses: [200],
    response: User,
  }),
  changePassword: route({
    method: 'post',
    path: '/api/v1/auth/password',
    tag,
    summary: 'Change the password; ends every other session',
    access: { kind: 'person' },
    body: PasswordInput,
    statuses: [200],
    response: Session,
  }),
} as const;
