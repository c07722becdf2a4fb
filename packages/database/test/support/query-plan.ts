import { clientConfig } from '@holdfast/database';
import pg from 'pg';
import type { SessionKind, Statement } from '@holdfast/database';

/** One step of a plan, as `explain (format json)` gives it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** What the tests want to know of an executed plan. */
export interface QueryPlan {
  /** Names of the indexes that were read. */
  readonly indexes: ReadonlySet<string>;
  /** Tables that were read from end to end. */
  readonly scannedTables: ReadonlySet<string>;
  /** Blocks that were touched, in memory or on disk, by everything that the statement did. */
  readonly blockCount: number;
}

/** Runs statements under EXPLAIN ANALYZE with a generic plan, and takes their effects back. */
export interface Explainer {
  /** The value `null` is SQL's. */
  explain(statement: Statement, values: readonly string[]): Promise<QueryPlan>;
  close(): Promise<void>;
}

/** Opens an explainer: with the settings of a lane, or with the server's own planner settings. */
export async function openExplainer(url: string, kind: SessionKind): Promise<Explainer> {
  const client = new pg.Client(clientConfig({ connectionString: url }, kind));
  await client.connect();
  await client.query('set plan_cache_mode = force_generic_plan');
  return {
    async explain({ name, text }, values) {
      await client.query(`prepare ${name} as ${text}`);
      const list = values
        .map((value) => (value === 'null' ? value : pg.escapeLiteral(value)))
        .join(', ');
      const args = list === '' ? '' : `(${list})`;
      await client.query('begin');
      const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(
        `explain (analyze, buffers, format json) execute ${name}${args}`,
      );
      await client.query('rollback');
      await client.query(`deallocate ${name}`);
      const root = rows[0]?.['QUERY PLAN'][0].Plan;
      if (root === undefined) throw new Error('The server gave no plan');
      return summarise(root);
    },
    close: () => client.end(),
  };
}

function summarise(root: PlanNode): QueryPlan {
  const nodes = flatten(root);
  const scans = nodes.filter((node) => node['Node Type'] === 'Seq Scan');
  return {
    indexes: new Set(nodes.flatMap((node) => node['Index Name'] ?? [])),
    scannedTables: new Set(scans.flatMap((node) => node['Relation Name'] ?? [])),
    blockCount: (root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0),
  };
}

function flatten(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(flatten)];
}
