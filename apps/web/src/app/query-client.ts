import { QueryClient } from '@tanstack/react-query';
import { isTransient } from '../api/describe-error.ts';

const retries = 2;
const retryAfterMs = 1_000;

/** The cache of everything that was read. Data stays on the screen when a later read fails. */
export function makeQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: 1_000,
        retry: (failures, error) => failures < retries && isTransient(error),
        retryDelay: retryAfterMs,
        refetchIntervalInBackground: false,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}
