import { listQueues } from '@holdfast/database';
import type { QueueView } from '@holdfast/database';
import type { Dependencies } from './dependencies.ts';
import { shareAnswers } from './shared-answers.ts';

/** Which queues to list. */
export interface QueuePageRequest {
  readonly projectId: string;
  readonly afterName: string | undefined;
  readonly limit: number;
}

/** Pages of queues with their counts, shared by all who look: counting a long queue takes the database a while. */
export interface QueuePages {
  read(request: QueuePageRequest): Promise<readonly QueueView[]>;
  /** After a change made here, which the next look must show. */
  forget(): void;
}

/** Pages that are as old as it takes to count them, at most. */
export function createQueuePages({
  database,
  clock,
}: Pick<Dependencies, 'database' | 'clock'>): QueuePages {
  const pages = shareAnswers(
    // Made by `read` from a request.
    (key) => listQueues(database, JSON.parse(key) as QueuePageRequest),
    clock,
  );
  return {
    read: ({ projectId, afterName, limit }) =>
      pages.get(JSON.stringify({ projectId, afterName, limit })),
    forget: () => {
      pages.forget();
    },
  };
}
