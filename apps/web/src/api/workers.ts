import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { currentProject } from './access.ts';
import { api } from './client.ts';
import { pollInterval } from './live.ts';

/** What is read about workers. */
export const workerQueries = {
  all: () => [currentProject(), 'workers'] as const,
  list: () =>
    queryOptions({
      queryKey: [...workerQueries.all(), 'list'] as const,
      queryFn: ({ signal }) => api.listWorkers({ params: { project: currentProject() }, signal }),
      refetchInterval: pollInterval,
    }),
};

/** An order to a worker; it takes effect with the worker's next heartbeat. */
export interface WorkerAction {
  readonly kind: 'quiet' | 'resume' | 'stop';
  readonly id: string;
}

async function act({ kind, id }: WorkerAction): Promise<unknown> {
  const params = { project: currentProject(), id };
  switch (kind) {
    case 'quiet':
      return api.quietWorker({ params, body: {} });
    case 'resume':
      return api.resumeWorker({ params, body: {} });
    case 'stop':
      return api.stopWorker({ params, body: {} });
  }
}

/** Gives an order to a worker, then reads the workers again. */
export function useWorkerAction() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => queryClient.invalidateQueries({ queryKey: workerQueries.all() }),
  });
}
