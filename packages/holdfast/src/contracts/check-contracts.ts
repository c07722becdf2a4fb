import {
  countWaitingPayloads,
  listPayloadContracts,
  listWaitingPayloads,
} from '@holdfast/database';
import type { Queryable } from '@holdfast/database';
import { claimName } from '@holdfast/domain';
import { describeContract } from '../describe-contracts.ts';
import type { JobDefinition } from '../job-definition.ts';
import type { ContractReport, Refusal, VersionReport } from './contract-report.ts';
import { judgePayload } from './judge-payload.ts';
import type { Judgement } from './judge-payload.ts';

/** What is checked. */
export interface ContractCheck {
  readonly projectId: string;
  /** By type. */
  readonly build: ReadonlyMap<string, JobDefinition>;
  /** How many payloads are read of each version of a type; `undefined`: all. */
  readonly limit: number | undefined;
  /** Whether what is unknown, or has another schema, counts as well. */
  readonly isStrict: boolean;
}

/** A payload may have a megabyte. */
const pageSize = 100;
/** Paths may hold the keys of records: each other one would be a line. */
const mostRefusals = 20;

/** Holds a build against the payloads that wait in a database, page by page. Changes nothing. */
export async function checkContracts(db: Queryable, check: ContractCheck): Promise<ContractReport> {
  const { projectId, build, isStrict } = check;
  const tallies = new Map<string, Tally>();
  for (const { type, version, jobCount } of await countWaitingPayloads(db, projectId)) {
    tallies.set(claimName(type, version), newTally(type, version, jobCount));
  }
  await readPayloads(db, check, tallies);
  const changed = await findOtherSchemas(db, check);
  for (const [name, { type, version }] of changed) {
    if (!tallies.has(name)) tallies.set(name, newTally(type, version, 0));
  }
  const versions = [...tallies.entries()].map(([name, tally]): VersionReport => {
    const { refusals, ...rest } = tally;
    const isDefined = build.has(tally.type);
    const hasOtherSchema = changed.has(name);
    return { ...rest, isDefined, refusals: [...refusals.values()], hasOtherSchema };
  });
  const isReady = (version: VersionReport): boolean =>
    version.taken === version.read && (!isStrict || (version.isDefined && !version.hasOtherSchema));
  return { ok: versions.every(isReady), versions: versions.sort(byName) };
}

interface Tally {
  readonly type: string;
  readonly version: number;
  waiting: number;
  read: number;
  taken: number;
  readonly refusals: Map<string, Refusal>;
}

function newTally(type: string, version: number, waiting: number): Tally {
  return { type, version, waiting, read: 0, taken: 0, refusals: new Map() };
}

async function readPayloads(
  db: Queryable,
  { projectId, build, limit = Infinity }: ContractCheck,
  tallies: ReadonlyMap<string, Tally>,
): Promise<void> {
  let afterId: string | undefined;
  for (;;) {
    // Each version for itself: few of a new one would otherwise stand behind many of an old one.
    const names = [...tallies]
      .filter(([, { type, read }]) => build.has(type) && read < limit)
      .map(([name]) => name);
    if (names.length === 0) return;
    const page = await listWaitingPayloads(db, { projectId, names, afterId, limit: pageSize });
    for (const { id, payloadJson, type, version } of page) {
      const definition = build.get(type);
      const tally = tallies.get(claimName(type, version));
      if (definition === undefined || tally === undefined || tally.read >= limit) continue;
      note(tally, await judgePayload(definition, { version, payloadJson }), id);
    }
    afterId = page.at(-1)?.id;
    if (page.length < pageSize) return;
  }
}

function note(tally: Tally, judgement: Judgement | undefined, jobId: string): void {
  tally.read += 1;
  // A job that came after the count is one more.
  tally.waiting = Math.max(tally.waiting, tally.read);
  if (judgement === undefined) {
    tally.taken += 1;
    return;
  }
  const key = JSON.stringify(judgement);
  const known = tally.refusals.get(key);
  if (known === undefined && tally.refusals.size >= mostRefusals) return;
  tally.refusals.set(key, { jobId, ...known, ...judgement, count: (known?.count ?? 0) + 1 });
}

/** The versions of the build that workers have registered with another schema. */
async function findOtherSchemas(
  db: Queryable,
  { projectId, build }: ContractCheck,
): Promise<ReadonlyMap<string, { readonly type: string; readonly version: number }>> {
  const registered = await listPayloadContracts(db, projectId);
  const others = registered.filter(({ type, version, fingerprint }) => {
    const definition = build.get(type);
    if (definition?.version !== version || fingerprint === undefined) return false;
    const own = describeContract(definition).fingerprint;
    return own !== undefined && own !== fingerprint;
  });
  return new Map(others.map(({ type, version }) => [claimName(type, version), { type, version }]));
}

function byName(a: VersionReport, b: VersionReport): number {
  if (a.type !== b.type) return a.type < b.type ? -1 : 1;
  return a.version - b.version;
}
