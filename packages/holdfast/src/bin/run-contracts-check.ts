import { findProject, openDatabase, requireCurrentSchema } from '@holdfast/database';
import type { ConnectionSettings } from '@holdfast/database';
import { ConfigError } from '@holdfast/domain';
import { checkContracts } from '../contracts/check-contracts.ts';
import { describeReport } from '../contracts/contract-report.ts';
import { readBuild } from '../contracts/read-build.ts';
import type { ContractsRequest } from './command-line.ts';

/**
 * Holds the definitions of some modules against the payloads that wait in the database.
 *
 * @returns the report, for standard output
 * @throws ConfigError for modules and a project that are not usable; HoldfastError for the database
 */
export async function runContractsCheck(
  settings: ConnectionSettings,
  request: ContractsRequest & { readonly project: string },
): Promise<{ readonly ok: boolean; readonly output: string }> {
  const { modules, limit, isStrict, isJson, project: slug } = request;
  const build = await readBuild(modules);
  await requireCurrentSchema(settings, 'run "npx holdfast migrate"');
  const database = openDatabase({ ...settings, poolSize: 1 });
  try {
    const project = await findProject(database, slug);
    if (project === undefined) {
      throw new ConfigError(
        `The configuration is invalid:\n  HOLDFAST_PROJECT: there is no project "${slug}"`,
      );
    }
    const report = await checkContracts(database, {
      ...{ projectId: project.id, build, limit, isStrict },
    });
    return {
      ok: report.ok,
      output: isJson ? `${JSON.stringify(report, undefined, 2)}\n` : describeReport(report),
    };
  } finally {
    await database.close();
  }
}
