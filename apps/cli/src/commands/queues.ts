import { openApi } from '../api-access.ts';
import { printRecords } from '../print-records.ts';
import type { Environment } from '@holdfast/runtime';
import type { QueueVerb } from '../program.ts';

/** `holdfast queues list|pause|resume` */
export async function runQueues(
  request: { readonly verb: QueueVerb; readonly name: string; readonly reason: string },
  env: Environment,
): Promise<number> {
  const { client, project } = openApi(env);
  const params = { project, queue: request.name };
  switch (request.verb) {
    case 'list':
      printRecords((await client.listQueues({ params: { project } })).data);
      break;
    case 'pause':
      printRecords([await client.pauseQueue({ params, body: { reason: request.reason } })]);
      break;
    case 'resume':
      printRecords([await client.resumeQueue({ params, body: {} })]);
      break;
  }
  return 0;
}
