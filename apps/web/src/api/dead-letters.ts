import type { CallInput } from '@holdfast/contract';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { currentProject } from './access.ts';
import { api } from './client.ts';
import { pollInterval } from './live.ts';

/** The filters of the list of dead letters, as the API takes them. */
export type DeadLetterFilter = NonNullable<CallInput<'listDeadLetters'>['query']>;

/** What is read about dead letters. */
export const deadLetterQueries = {
  all: () => [currentProject(), 'dead-letters'] as const,
  list: (filter: DeadLetterFilter) =>
    queryOptions({
      queryKey: [...deadLetterQueries.all(), 'list', filter] as const,
      queryFn: ({ signal }) =>
        api.listDeadLetters({ params: { project: currentProject() }, query: filter, signal }),
      refetchInterval: pollInterval,
      placeholderData: keepPreviousData,
    }),
  groups: () =>
    queryOptions({
      queryKey: [...deadLetterQueries.all(), 'groups'] as const,
      queryFn: ({ signal }) =>
        api.listDeadLetterGroups({ params: { project: currentProject() }, query: {}, signal }),
      refetchInterval: pollInterval,
    }),
};
