import type { Request, Response } from 'express';
import { sessionIdleMs } from './sessions.ts';

// The prefix makes browsers refuse the cookie from anybody but this host, and works over https only.
const secureName = '__Host-holdfast_refresh';
const plainName = 'holdfast_refresh';

/** Sets the refresh cookie: never readable by scripts, never sent across sites; over https also bound to the host. */
export function setRefreshCookie(request: Request, response: Response, token: string): void {
  response.cookie(nameFor(request), token, { ...optionsFor(request), maxAge: sessionIdleMs });
}

/** Removes the refresh cookie. */
export function clearRefreshCookie(request: Request, response: Response): void {
  response.clearCookie(nameFor(request), optionsFor(request));
}

/** The refresh token of the request's cookie. */
export function readRefreshCookie(request: Request): string | undefined {
  const name = nameFor(request);
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name && value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value)) return value;
  }
  return undefined;
}

function nameFor(request: Request): string {
  return request.secure ? secureName : plainName;
}

function optionsFor(request: Request) {
  return {
    httpOnly: true,
    sameSite: 'strict',
    secure: request.secure,
    // A `__Host-` cookie must have the path of the whole host.
    path: request.secure ? '/' : '/api/v1/auth',
  } as const;
}
