import type { CallInput } from '@holdfast/contract';
import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import { currentProject } from './access.ts';
import { api } from './client.ts';
import { pollInterval } from './live.ts';

/** A new schedule, as the API takes it. */
export type NewSchedule = CallInput<'createSchedule'>['body'];

/** A change of a schedule, as the API takes it. */
export type ScheduleChange = NonNullable<CallInput<'updateSchedule'>['body']>;

/** What a preview is made of. */
export interface PreviewRequest {
  readonly cron: string;
  readonly timezone: string;
}

/** What is read about schedules. */
export const scheduleQueries = {
  all: () => [currentProject(), 'schedules'] as const,
  list: () =>
    queryOptions({
      queryKey: [...scheduleQueries.all(), 'list'] as const,
      queryFn: ({ signal }) =>
        api.listSchedules({ params: { project: currentProject() }, query: { limit: 200 }, signal }),
      refetchInterval: pollInterval,
    }),
  fires: (id: string) =>
    queryOptions({
      queryKey: [...scheduleQueries.all(), 'fires', id] as const,
      queryFn: ({ signal }) =>
        api.listScheduleFires({
          params: { project: currentProject(), id },
          query: { limit: 60 },
          signal,
        }),
      refetchInterval: pollInterval,
    }),
  preview: ({ cron, timezone }: PreviewRequest) =>
    queryOptions({
      queryKey: [...scheduleQueries.all(), 'preview', cron, timezone] as const,
      queryFn: ({ signal }) =>
        api.previewSchedule({
          params: { project: currentProject() },
          body: { cron, timezone, count: 5 },
          signal,
        }),
      retry: false,
    }),
};

/** What a person can do with a schedule. */
export type ScheduleAction =
  | { readonly kind: 'create'; readonly schedule: NewSchedule; readonly key: string }
  | { readonly kind: 'edit'; readonly id: string; readonly change: ScheduleChange }
  | { readonly kind: 'pause'; readonly id: string; readonly reason: string }
  | { readonly kind: 'resume' | 'delete'; readonly id: string }
  | { readonly kind: 'run_now'; readonly id: string; readonly key: string };

async function act(action: ScheduleAction): Promise<unknown> {
  const project = currentProject();
  switch (action.kind) {
    case 'create':
      return api.createSchedule({
        params: { project },
        body: action.schedule,
        idempotencyKey: action.key,
      });
    case 'edit':
      return api.updateSchedule({ params: { project, id: action.id }, body: action.change });
    case 'pause':
      return api.pauseSchedule({
        params: { project, id: action.id },
        body: { reason: action.reason },
      });
    case 'resume':
      return api.resumeSchedule({ params: { project, id: action.id }, body: {} });
    case 'delete':
      return api.deleteSchedule({ params: { project, id: action.id } });
    case 'run_now':
      return api.runScheduleNow({
        params: { project, id: action.id },
        body: {},
        idempotencyKey: action.key,
      });
  }
}

/** Does something with a schedule, then reads again whatever shows schedules or jobs. */
export function useScheduleAction() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSettled: () => queryClient.invalidateQueries({ queryKey: [currentProject()] }),
  });
}
