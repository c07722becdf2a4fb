import type { CallInput } from '@holdfast/contract';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { currentProject } from './access.ts';
import { api } from './client.ts';
import { pollInterval } from './live.ts';

/** The settings of a new queue, as the API takes them. */
export type NewQueue = CallInput<'createQueue'>['body'];

/** A change of a queue's settings, as the API takes it. */
export type QueueSettings = NonNullable<CallInput<'updateQueue'>['body']>;

/** What is read about queues. */
export const queueQueries = {
  all: () => [currentProject(), 'queues'] as const,
  list: () =>
    queryOptions({
      queryKey: [...queueQueries.all(), 'list'] as const,
      queryFn: ({ signal }) =>
        api.listQueues({ params: { project: currentProject() }, query: { limit: 200 }, signal }),
      refetchInterval: pollInterval,
    }),
};

/** Why and until when a queue is paused. */
export interface Pause {
  readonly reason: string;
  /** RFC 3339; without it the pause lasts until somebody ends it. */
  readonly until?: string | undefined;
}

/** What a person can do with a queue. */
export type QueueAction =
  | { readonly kind: 'create'; readonly queue: NewQueue; readonly key: string }
  | { readonly kind: 'pause' | 'drain'; readonly name: string; readonly pause: Pause }
  | { readonly kind: 'resume' | 'delete'; readonly name: string }
  | { readonly kind: 'configure'; readonly name: string; readonly settings: QueueSettings };

async function act(action: QueueAction): Promise<unknown> {
  const project = currentProject();
  switch (action.kind) {
    case 'create':
      return api.createQueue({
        params: { project },
        body: action.queue,
        idempotencyKey: action.key,
      });
    case 'pause':
      return api.pauseQueue({ params: { project, queue: action.name }, body: action.pause });
    case 'drain':
      return api.drainQueue({ params: { project, queue: action.name }, body: action.pause });
    case 'resume':
      return api.resumeQueue({ params: { project, queue: action.name }, body: {} });
    case 'delete':
      return api.deleteQueue({ params: { project, queue: action.name } });
    case 'configure':
      return api.updateQueue({ params: { project, queue: action.name }, body: action.settings });
  }
}

/** Does something with a queue, then reads again whatever shows queues. */
export function useQueueAction() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => queryClient.invalidateQueries({ queryKey: [currentProject()] }),
  });
}
