import type { CallInput } from '@holdfast/contract';
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { currentProject } from './access.ts';
import { api } from './client.ts';
import { pollInterval } from './live.ts';

/** The filters of a list of jobs, as the API takes them. */
export type JobFilter = NonNullable<CallInput<'listJobs'>['query']>;

/** A job to enqueue, as the API takes it. */
export type NewJob = CallInput<'enqueueJob'>['body'];

/** A change of a job that has not started, as the API takes it. */
export type JobChange = NonNullable<CallInput<'updateJob'>['body']>;

/** What is read about jobs. */
export const jobQueries = {
  all: () => [currentProject(), 'jobs'] as const,
  list: (filter: JobFilter) =>
    queryOptions({
      queryKey: [...jobQueries.all(), 'list', filter] as const,
      queryFn: ({ signal }) =>
        api.listJobs({ params: { project: currentProject() }, query: filter, signal }),
      refetchInterval: pollInterval,
      placeholderData: keepPreviousData,
    }),
  one: (id: string) =>
    queryOptions({
      queryKey: [...jobQueries.all(), 'one', id] as const,
      queryFn: ({ signal }) => api.getJob({ params: { project: currentProject(), id }, signal }),
      refetchInterval: pollInterval,
    }),
  logs: (id: string) =>
    infiniteQueryOptions({
      queryKey: [...jobQueries.all(), 'logs', id] as const,
      queryFn: ({ signal, pageParam }) =>
        api.listJobLogs({
          params: { project: currentProject(), id },
          query: { cursor: pageParam },
          signal,
        }),
      initialPageParam: undefined as string | undefined,
      getNextPageParam: (page) => page.nextCursor ?? undefined,
      refetchInterval: pollInterval,
    }),
};

/** What a person can do with one job. */
export type JobAction =
  | { readonly kind: 'cancel' | 'retry' | 'replay'; readonly reason?: string | undefined }
  | { readonly kind: 'run_now' }
  | { readonly kind: 'edit'; readonly patch: JobChange };

async function act(id: string, action: JobAction): Promise<unknown> {
  const params = { project: currentProject(), id };
  switch (action.kind) {
    case 'cancel':
      return api.cancelJob({ params, body: { reason: action.reason } });
    case 'retry':
      return api.retryJob({ params, body: { reason: action.reason } });
    case 'replay':
      return api.replayJob({ params, body: { reason: action.reason } });
    case 'run_now':
      return api.runJobNow({ params, body: {} });
    case 'edit':
      return api.updateJob({ params, body: action.patch });
  }
}

/** Does something with one job, then reads again whatever shows jobs. */
export function useJobAction() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, action }: { readonly id: string; readonly action: JobAction }) =>
      act(id, action),
    // Also after a refusal: the usual reason is that the job has moved on.
    onSettled: () => queryClient.invalidateQueries({ queryKey: [currentProject()] }),
  });
}

/** Enqueues a job. The key makes a second press of the button, or a repeated request, harmless. */
export function useEnqueueJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ job, key }: { readonly job: NewJob; readonly key: string }) =>
      api.enqueueJob({
        params: { project: currentProject() },
        body: job,
        idempotencyKey: key,
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [currentProject()] }),
  });
}

/** Enqueues a new job like an existing one. */
export function useDuplicateJob() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, key }: { readonly id: string; readonly key: string }) =>
      api.duplicateJob({
        params: { project: currentProject(), id },
        body: {},
        idempotencyKey: key,
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [currentProject()] }),
  });
}
