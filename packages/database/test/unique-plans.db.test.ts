import { statements, uniqueDigest } from '@holdfast/database';
import { uuidV7 } from '@holdfast/domain';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHandConnection } from './support/hand-connection.ts';
import { openExplainer } from './support/query-plan.ts';
import { createRace } from './support/race.ts';
import type { UniqueConflictMode } from '@holdfast/domain';
import type { Explainer, QueryPlan } from './support/query-plan.ts';
import type { Race } from './support/race.ts';

const keyCount = 50_000;

let race: Race;
let explainer: Explainer;

beforeAll(async () => {
  race = await createRace();
  explainer = await openExplainer(race.url, 'general');
  // The functions' own plans are made while the tables are empty, and are kept by this session.
  await explain('keep', 'nobody-has-it');
  await explain('queue_latest', 'nobody-has-it');
  await fill();
}, 120_000);
afterAll(async () => {
  await explainer.close();
  await race.close();
});

/** Live jobs of which each holds a key. */
async function fill(): Promise<void> {
  const { projectId } = race.factory;
  const { queueId } = await race.factory.completed();
  const connection = await openHandConnection(race.url);
  await connection.run('set statement_timeout = 0');
  await connection.run(`
    create temporary table made as select gen_random_uuid() as id, 'key-' || n as key
    from generate_series(1, ${String(keyCount)}) as n;
    insert into holdfast.jobs (
      project_id, id, queue_id, type, payload, created_at, run_at, status, seq, unique_lock
    )
    select
      '${projectId}', id, ${queueId}, 'test.job', '{}', now(), now(), 'queued', nextval('holdfast.job_seq'),
      jsonb_build_object('key', key)
    from made;
    insert into holdfast.unique_locks (project_id, digest, scope, key, job_id, until)
    select '${projectId}', holdfast.unique_digest('type', 'test.job', key), 'type', key, id, 'done'
    from made;
  `);
  await connection.close();
}

/** The blocks of one call, when the session has the plans and the catalogue in memory. */
async function explain(onConflict: UniqueConflictMode, key: string): Promise<QueryPlan> {
  const { projectId } = race.factory;
  const digest = uniqueDigest({ scope: 'type', key, type: 'test.job', queue: 'q' });
  const asked = { digest, scope: 'type', key, until: 'done', onConflict };
  const content = { type: 'test.job', queue: 'q', payload: '{}', priority: 5 };
  const request = { no: 0, jobId: uuidV7(Date.now()), ...asked, ...content };
  const values = [projectId, JSON.stringify([request])];
  for (let round = 0; round < 8; round += 1) {
    await explainer.explain(statements.acquireUniqueKeys, values);
  }
  return explainer.explain(statements.acquireUniqueKeys, values);
}

describe(`among ${String(keyCount)} keys that are held`, () => {
  it.each(['keep', 'reject'] as const)('one is looked up in a few blocks: %s', async (mode) => {
    const { blockCount } = await explain(mode, `key-${String(keyCount / 2)}`);
    expect(blockCount).toBeLessThanOrEqual(20);
  });

  it.each(['replace', 'queue_latest'] as const)(
    'one is looked up and its job rewritten in not many more: %s',
    async (mode) => {
      const { blockCount } = await explain(mode, `key-${String(keyCount / 2)}`);
      expect(blockCount).toBeLessThanOrEqual(60);
    },
  );

  it('the jobs of one are listed by an index', async () => {
    const others = Array.from({ length: 8 }, () => 'null');
    const values = [race.factory.projectId, 'null', '50', ...others, 'key-7', 'null'];
    const { indexes, blockCount } = await explainer.explain(statements.listJobsOfKey, values);
    expect([...indexes]).toContain('jobs_of_key');
    expect(blockCount).toBeLessThan(100);
  });

  it('another one is taken in as few', async () => {
    const { blockCount } = await explain('keep', 'nobody-has-it');
    expect(blockCount).toBeLessThanOrEqual(30);
  });
});
