import { registerPayloadContracts } from '@holdfast/database';
import type { Logger } from '@holdfast/runtime';
import type { OpenConnection } from './connection.ts';
import { describeContract } from './describe-contracts.ts';
import type { PayloadContract } from './payload-versions.ts';

/**
 * Notes in the database which payloads a worker takes, for `holdfast contracts check` and for people. The worker runs as
 * well without it, so what goes wrong is only logged; so is a schema that has changed under its version.
 */
export async function registerContracts(
  { database, projectId }: OpenConnection,
  contracts: readonly PayloadContract[],
  logger: Logger,
): Promise<void> {
  try {
    const changed = await registerPayloadContracts(database, {
      projectId,
      contracts: contracts.map(describeContract),
    });
    for (const { type, version } of changed) {
      logger.warn(
        { type, version },
        'the schema of a payload has changed under its version: jobs that wait may not fit it, so count the version up',
      );
    }
  } catch (error) {
    logger.warn({ err: error }, 'what payloads this worker takes could not be noted');
  }
}
