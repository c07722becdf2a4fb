/** Why a build does not take payloads that wait. No values of payloads are in it: they may be secret. */
export interface Refusal {
  /**
   * `version_not_supported`: no upgrade begins there; `upgrade_failed`: one threw; `schema_refused`: what the upgrades made
   * does not fit; `schema_failed`: the schema itself threw.
   */
  readonly reason: 'version_not_supported' | 'upgrade_failed' | 'schema_refused' | 'schema_failed';
  /** Of a schema's first issue: a JSON pointer into the upgraded payload. */
  readonly path?: string | undefined;
  /** Of an upgrade: the version that it begins with, and the name of the error that it threw. */
  readonly upgradeFrom?: number | undefined;
  readonly error?: string | undefined;
  /** How many of the payloads that were read. */
  readonly count: number;
  /** One of the jobs. */
  readonly jobId: string;
}

/** What a build makes of one version of a type. */
export interface VersionReport {
  readonly type: string;
  readonly version: number;
  /** Whether a module defines the type. */
  readonly isDefined: boolean;
  /** How many jobs wait, run, or rest in `failed`. */
  readonly waiting: number;
  /** How many of their payloads were read. */
  readonly read: number;
  /** How many of those the build takes. */
  readonly taken: number;
  readonly refusals: readonly Refusal[];
  /** Whether a worker has registered this version with another schema. */
  readonly hasOtherSchema: boolean;
}

/** What a build makes of the payloads that wait. */
export interface ContractReport {
  /** Whether the build can be deployed; under `--strict`, also whether nothing is unknown or has another schema. */
  readonly ok: boolean;
  readonly versions: readonly VersionReport[];
}

/** The report for people. */
export function describeReport({ ok, versions }: ContractReport): string {
  const lines = versions.flatMap((version) => [
    headOf(version),
    ...version.refusals.map((refusal) => `  ${refusalOf(refusal)}`),
    ...(version.hasOtherSchema
      ? ['  its schema is not the one that workers have registered under this version']
      : []),
  ]);
  const end = ok
    ? 'This build takes every payload that was read.'
    : 'This build is not ready to take what waits.';
  return `${[...lines, end].join('\n')}\n`;
}

function headOf({ type, version, isDefined, waiting, read, taken }: VersionReport): string {
  const name = `${type}, version ${String(version)}: ${String(waiting)} waiting`;
  if (!isDefined) return `${name}, which no module defines`;
  if (waiting === 0) return name;
  return `${name}, ${String(taken)} of ${String(read)} read are taken`;
}

function refusalOf({ reason, path, upgradeFrom, error, count, jobId }: Refusal): string {
  const what = {
    version_not_supported: 'no upgrade begins with this version',
    upgrade_failed: `the upgrade from version ${String(upgradeFrom)} threw ${printable(error)}`,
    schema_refused: `the schema refuses ${path === '' ? 'the payload' : printable(path)}`,
    schema_failed: `the schema threw ${printable(error)}`,
  }[reason];
  return `${String(count)}: ${what}, such as of job ${jobId}`;
}

const longestText = 200;

/** Keys of records are from whoever enqueued: none shall end the line, or speak to the terminal. */
function printable(text = ''): string {
  const cut = text.length > longestText ? `${text.slice(0, longestText)}…` : text;
  return cut.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
