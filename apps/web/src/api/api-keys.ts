import type { CallInput } from '@holdfast/contract';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { currentProject } from './access.ts';
import { api } from './client.ts';

/** A new API key, as the API takes it. */
export type NewApiKey = CallInput<'createApiKey'>['body'];

/** What is read about API keys. */
export const apiKeyQueries = {
  all: () => [currentProject(), 'api-keys'] as const,
  list: () =>
    queryOptions({
      queryKey: [...apiKeyQueries.all(), 'list'] as const,
      queryFn: ({ signal }) =>
        api.listApiKeys({ params: { project: currentProject() }, query: { limit: 200 }, signal }),
    }),
};

/** Creates an API key. The answer has the key itself, which nothing shows again. */
export function useCreateApiKey() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ input, idempotencyKey }: { input: NewApiKey; idempotencyKey: string }) =>
      api.createApiKey({ params: { project: currentProject() }, body: input, idempotencyKey }),
    gcTime: 0,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: apiKeyQueries.all() }),
  });
}

/** Revokes an API key at once. */
export function useRevokeApiKey() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => api.revokeApiKey({ params: { project: currentProject(), id } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: apiKeyQueries.all() }),
  });
}
