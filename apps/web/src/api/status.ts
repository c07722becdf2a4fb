import { queryOptions } from '@tanstack/react-query';
import { api } from './client.ts';

/** What is read about the installation. */
export const statusQueries = {
  status: () =>
    queryOptions({
      queryKey: ['status'] as const,
      queryFn: ({ signal }) => api.getStatus({ signal }),
      refetchInterval: 30_000,
    }),
};
