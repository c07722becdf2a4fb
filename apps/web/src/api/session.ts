import { createApiClient } from '@holdfast/contract';
import type { Session, User } from '@holdfast/contract';
import { useSyncExternalStore } from 'react';

/**
 * Who is signed in. The access token lives in this module's memory only: another tab, or a reload, gets its own by the
 * refresh cookie, which no script can read.
 */
export type SessionState =
  | { readonly status: 'unknown' }
  | { readonly status: 'signed_out' }
  | { readonly status: 'signed_in'; readonly user: User };

const authApi = createApiClient({ baseUrl: '', getAccessToken: () => accessToken });
const listeners = new Set<() => void>();

let accessToken: string | undefined;
let state: SessionState = { status: 'unknown' };
let refreshing: Promise<boolean> | undefined;

function setState(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

function begin(session: Session): void {
  accessToken = session.accessToken;
  setState({ status: 'signed_in', user: session.user });
}

function end(): void {
  accessToken = undefined;
  setState({ status: 'signed_out' });
}

/** The token to send with a request, or undefined when nobody is signed in. */
export function currentAccessToken(): string | undefined {
  return accessToken;
}

/** The session as it is now. */
export function sessionState(): SessionState {
  return state;
}

/** Calls the listener after each change of the session; returns how to stop. */
export function onSessionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The session, for components. */
export function useSession(): SessionState {
  return useSyncExternalStore(onSessionChange, sessionState);
}

/** Signs in with a password. Throws `ApiError` when it is refused. */
export async function signIn(credentials: {
  readonly email: string;
  readonly password: string;
}): Promise<void> {
  begin(await authApi.login({ body: credentials }));
}

/** Signs in with the ticket of a one-time link. Throws `ApiError` when it was used, or is too old. */
export async function redeemTicket(ticket: string): Promise<void> {
  begin(await authApi.redeemTicket({ body: { ticket } }));
}

/** Changes the own password; the session goes on with a new token. */
export async function changePassword(passwords: {
  readonly currentPassword: string;
  readonly newPassword: string;
}): Promise<void> {
  begin(await authApi.changePassword({ body: passwords }));
}

/** Ends the session here and on the server. */
export async function signOut(): Promise<void> {
  try {
    await authApi.logout({ body: {} });
  } finally {
    end();
  }
}

/**
 * Gets a new access token by the refresh cookie. Callers at the same time share one request.
 *
 * @returns whether somebody is signed in now. An unreachable server throws and changes nothing.
 */
export function refreshSession(): Promise<boolean> {
  refreshing ??= oneTabAtATime(refreshOnce).finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

async function refreshOnce(): Promise<boolean> {
  try {
    begin(await authApi.refresh({ body: {} }));
    return true;
  } catch (error) {
    if (!isRefused(error)) throw error;
    end();
    return false;
  }
}

function isRefused(error: unknown): boolean {
  if (!(error instanceof Error) || !('status' in error)) return false;
  return error.status === 401 || error.status === 403;
}

// Each refresh makes the cookie before it invalid, so that two tabs must not use the same one.
async function oneTabAtATime(work: () => Promise<boolean>): Promise<boolean> {
  // Missing on plain http to another host.
  return 'locks' in navigator ? navigator.locks.request('holdfast-refresh', work) : work();
}
