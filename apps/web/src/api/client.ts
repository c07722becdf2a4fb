import { createApiClient } from '@holdfast/contract';
import { currentAccessToken, refreshSession } from './session.ts';

/** The API with the signed-in person's token. A refused token is renewed once, and the request sent again. */
export const api = createApiClient({
  baseUrl: '',
  getAccessToken: currentAccessToken,
  fetch: fetchWithRenewal,
});

async function fetchWithRenewal(
  input: RequestInfo | URL,
  init: RequestInit = {},
): Promise<Response> {
  const response = await fetch(input, init);
  if (response.status !== 401 || !(await refreshSession())) return response;
  const headers = new Headers(init.headers);
  headers.set('authorization', `Bearer ${currentAccessToken() ?? ''}`);
  return fetch(input, { ...init, headers });
}
