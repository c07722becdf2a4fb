import { settleEndings } from '@holdfast/database';
import { waitFor } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApi } from './support/test-api.ts';
import type { Sent, TestApi } from './support/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const params = { project: 'default' } as const;
const one = (id: string) => ({ ...params, id });
const nobody = '019a2c4e-7d3f-7a61-9b0e-5f2d8c1a4e90';
const job = (type: string, more: object = {}) => ({ type, queue: 'batches', ...more });
const later = (type: string) => job(type, { delay: '1h' });
const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  api.inProject('POST', path, { body, headers });

/** Lets a waiting job die, as workers do. */
async function die(id: string): Promise<void> {
  await api.db.database.execute(`
    update holdfast.jobs
    set status = 'dead_letter', attempt = 1, execution_seq = 1, claimed_at = now(), started_at = now(),
      finished_at = now(), worker_id = gen_random_uuid(), run_at = now(), reason = 'non_retryable',
      last_error = '{"code":"x","message":"x","fingerprint":"x"}'
    where id = '${id}';
    insert into holdfast.job_endings (project_id, job_id, status, batch_id, has_children)
    select project_id, id, 'dead_letter', batch_id, has_children from holdfast.jobs where id = '${id}';
  `);
  // The API settles as well; whoever comes first.
  await waitFor('its end is settled', async () => {
    const { count, isBlocked, more } = await settleEndings(api.db.database);
    return count === 0 && !isBlocked && !more;
  });
}

describe('a batch', () => {
  it('is made with its jobs and callbacks, and says where it is', async () => {
    const sent = await post('/batches', {
      name: 'March',
      jobs: [job('a'), later('b')],
      callbacks: {
        then: job('then', { payload: { ok: true } }),
        catch: job('catch'),
        finally: job('finally'),
        progress: { every: 50, job: job('progress') },
      },
    });
    expect(sent.status).toBe(201);
    const { id, jobIds } = sent.json as unknown as { id: string; jobIds: readonly string[] };
    expect(sent.headers.get('location')).toBe(`/api/v1/projects/default/batches/${id}`);
    expect(sent.json).toMatchObject({
      ...{ kind: 'batch', name: 'March', status: 'running', parentId: null, finishedAt: null },
      counts: { total: 2, pending: 2, completed: 0, deadLetter: 0, cancelled: 0 },
    });
    const read = await api.client.getBatch({ params: one(id) });
    expect(read.callbacks.map(({ role, percent }) => [role, percent])).toEqual([
      ...[
        ['catch', null],
        ['finally', null],
        ['progress', 50],
        ['progress', 100],
      ],
      ['then', null],
    ]);
    const jobs = await Promise.all(jobIds.map((each) => api.client.getJob({ params: one(each) })));
    expect(jobs).toMatchObject([
      { type: 'a', batchId: id, status: 'queued', parents: [], waitingOn: 0 },
      { type: 'b', batchId: id, status: 'scheduled' },
    ]);
  });

  it('is made once for an idempotency key', async () => {
    const body = { jobs: [later('a')] };
    const headers = { 'idempotency-key': 'one-batch' };
    const first = await post('/batches', body, headers);
    const second = await post('/batches', body, headers);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.json).toEqual(first.json);
    const other = await post('/batches', { jobs: [later('b')] }, headers);
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
  });

  it('finishes at once when it is empty, also inside of another one', async () => {
    const outer = await api.client.createBatch({ params, body: { jobs: [later('a')] } });
    const callbacks = { finally: later('finally') };
    const body = { jobs: [], parentId: outer.id, callbacks: {} };
    const inner = await api.client.createBatch({ params, body });
    expect(inner).toMatchObject({ status: 'completed', parentId: outer.id, jobIds: [] });
    await waitFor('the outer batch has counted it', async () => {
      const { counts } = await api.client.getBatch({ params: one(outer.id) });
      return counts.total === 2 && counts.completed === 1;
    });
    const empty = await api.client.createBatch({ params, body: { jobs: [], callbacks } });
    expect(empty.callbacks[0]?.enqueuedAt).not.toBeNull();
  });

  it('takes more jobs until it has finished', async () => {
    const { id, jobIds } = await api.client.createBatch({ params, body: { jobs: [later('a')] } });
    const added = await api.client.addBatchJobs({ params: one(id), body: { jobs: [later('b')] } });
    expect(await api.client.getBatch({ params: one(id) })).toMatchObject({ counts: { total: 2 } });
    const listed = await api.client.listBatchJobs({ params: one(id), query: {} });
    expect(listed.data.map((each) => each.id)).toEqual([...jobIds, ...added.jobIds].reverse());
    await api.client.cancelBatch({ params: one(id), body: {} });
    const late = await post(`/batches/${id}/jobs`, { jobs: [later('c')] });
    expect([late.status, late.json.code]).toEqual([409, 'batch_not_open']);
  });

  it('is cancelled with all its jobs, and what follows happens at once', async () => {
    const { id } = await api.client.createBatch({
      params,
      body: { jobs: [later('a'), later('b')] },
    });
    await api.client.cancelBatch({ params: one(id), body: { reason: 'no more' } });
    await waitFor('the batch has finished', async () => {
      const batch = await api.client.getBatch({ params: one(id) });
      return batch.status === 'cancelled' && batch.counts.cancelled === 2;
    });
    const again = await post(`/batches/${id}/cancel`, {});
    expect([again.status, again.json.code]).toEqual([409, 'batch_not_open']);
    expect(again.json).toMatchObject({ batchStatus: 'cancelled' });
  });

  it('tries its dead members again', async () => {
    const { id, jobIds } = await api.client.createBatch({ params, body: { jobs: [later('a')] } });
    await die(jobIds[0] ?? '');
    expect(await api.client.getBatch({ params: one(id) })).toMatchObject({ status: 'dead_letter' });
    const retried = await api.client.retryFailedOfBatch({ params: one(id), body: {} });
    expect(retried).toMatchObject({ retriedCount: 1, status: 'running', finishedAt: null });
    expect(await api.client.getJob({ params: one(jobIds[0] ?? '') })).toMatchObject({
      ...{ status: 'queued', generation: 1 },
    });
  });

  it('is found in lists, page by page, and filters jobs', async () => {
    const made: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      const chain = await api.client.createChain({ params, body: { jobs: [later('a')] } });
      made.unshift(chain.id);
    }
    const query = { kind: 'chain', limit: 2 } as const;
    const first = await api.client.listBatches({ params, query });
    const cursor = first.nextCursor ?? undefined;
    const second = await api.client.listBatches({ params, query: { ...query, cursor } });
    const ids = [...first.data, ...second.data].map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual(made);
    const [batch = ''] = made;
    const jobs = await api.client.listJobs({ params, query: { batch } });
    expect(jobs.data.map(({ batchId }) => batchId)).toEqual([batch]);
    const none = await api.client.listBatchJobs({
      params: one(batch),
      query: { status: 'queued' },
    });
    expect(none.data).toEqual([]);
  });
});

describe('a chain', () => {
  it('has one job that is due, and the others wait for it', async () => {
    const made = await api.client.createChain({
      params,
      body: { jobs: [job('a'), job('b'), job('c')], callbacks: { catch: job('catch') } },
    });
    const [a = '', b = '', c = ''] = made.jobIds;
    expect(await api.client.getJob({ params: one(c) })).toMatchObject({
      ...{ status: 'scheduled', waitingOn: 1, runAt: null, batchId: made.id },
      parents: [{ id: b, state: 'waiting', onParentFailure: 'cancel' }],
    });
    await die(a);
    expect(await api.client.getJob({ params: one(b) })).toMatchObject({
      ...{ status: 'cancelled', reason: 'parent_failed', lastError: { code: 'parent_failed' } },
      parents: [{ id: a, state: 'broken' }],
    });
    await api.client.replayJob({ params: one(a), body: {} });
    expect(await api.client.getJob({ params: one(b) })).toMatchObject({ status: 'scheduled' });
  });
});

describe('a graph', () => {
  it('is made from names, and answers which job each of them became', async () => {
    const made = await api.client.createGraph({
      params,
      body: {
        nodes: [
          {
            name: 'last',
            job: job('last'),
            after: ['left', { node: 'right', onParentFailure: 'run' }],
          },
          { name: 'first', job: job('first') },
          { name: 'left', job: job('left'), after: ['first'], onParentFailure: 'wait' },
          { name: 'right', job: job('right'), after: ['first'] },
        ],
      },
    });
    const idOf = new Map(made.nodes.map(({ name, jobId }) => [name, jobId]));
    const graph = await api.client.getGraph({ params: one(made.id) });
    expect(graph.nodes.map(({ type, status }) => [type, status])).toEqual([
      ['last', 'scheduled'],
      ['first', 'queued'],
      ['left', 'scheduled'],
      ['right', 'scheduled'],
    ]);
    const edge = (parent: string, child: string, onParentFailure: string) => ({
      ...{ parentId: idOf.get(parent), childId: idOf.get(child), onParentFailure },
      state: 'waiting',
    });
    expect(graph.edges).toHaveLength(4);
    expect(graph.edges).toEqual(
      expect.arrayContaining([
        edge('left', 'last', 'cancel'),
        edge('right', 'last', 'run'),
        edge('first', 'left', 'wait'),
        edge('first', 'right', 'cancel'),
      ]),
    );
  });

  it('names every job of a circle', async () => {
    const node = (name: string, ...after: readonly string[]) => ({ name, job: job('x'), after });
    const nodes = [node('free'), node('a', 'free', 'c'), node('b', 'a'), node('c', 'b')];
    const sent = await post('/graphs', { nodes });
    expect([...pointersOf(sent)].sort()).toEqual([
      '/nodes/1/after',
      '/nodes/2/after',
      '/nodes/3/after',
    ]);
    expect(sent.json.errors?.[0]?.detail).toContain('in a circle');
  });
});

function pointersOf({ status, json }: Sent): readonly string[] {
  expect([status, json.code]).toEqual([422, 'validation_failed']);
  return (json.errors ?? []).map(({ pointer }) => pointer);
}

describe('what is refused', () => {
  const node = (name: string, more: object = {}) => ({ name, job: job('x'), ...more });
  const instant = '2090-01-01T00:00:00Z';
  it.each([
    ['/batches', {}, ['/jobs']],
    ['/batches', { jobs: 'none' }, ['/jobs']],
    ['/batches', { jobs: [], extra: 1 }, ['/extra']],
    ['/batches', { jobs: [job('a'), { queue: 'x' }] }, ['/jobs/1/type']],
    ['/batches', { jobs: [job('a', { unique: { key: 'k' } })] }, ['/jobs/0/unique']],
    ['/batches', { jobs: [job('a', { delay: '1s', runAt: instant })] }, ['/jobs/0/runAt']],
    ['/batches', { jobs: [], name: '' }, ['/name']],
    ['/batches', { jobs: [], parentId: 'x' }, ['/parentId']],
    ['/batches', { jobs: [], callbacks: { then: {} } }, ['/callbacks/then/type']],
    ['/batches', { jobs: [], callbacks: { otherwise: job('a') } }, ['/callbacks/otherwise']],
    [
      '/batches',
      { jobs: [], callbacks: { then: job('a', { runAt: instant }) } },
      ['/callbacks/then/runAt'],
    ],
    [
      '/batches',
      { jobs: [], callbacks: { progress: { every: 0, job: job('a') } } },
      ['/callbacks/progress/every'],
    ],
    ['/chains', { jobs: [job('a'), job('b', { runAt: instant })] }, ['/jobs/1/runAt']],
    ['/graphs', { nodes: [node('a'), node('a')] }, ['/nodes/1/name']],
    ['/graphs', { nodes: [node('a', { after: ['b'] })] }, ['/nodes/0/after/0']],
    ['/graphs', { nodes: [node('a'), node('b', { after: ['a', 'a'] })] }, ['/nodes/1/after']],
    ['/graphs', { nodes: [node('a', { onParentFailure: 'die' })] }, ['/nodes/0/onParentFailure']],
    ['/graphs', { nodes: [node('a', { after: ['a'] })] }, ['/nodes/0/after']],
  ])('POST %s %j points to what is wrong', async (path, body, pointers) => {
    expect(pointersOf(await post(path, body))).toEqual(pointers);
  });

  it.each([
    ['GET', `/batches/${nobody}`],
    ['GET', `/batches/${nobody}/jobs`],
    ['GET', `/graphs/${nobody}`],
    ['POST', `/batches/${nobody}/cancel`],
    ['POST', `/batches/${nobody}/retry-failed`],
  ])('%s %s finds no batch', async (method, path) => {
    const sent = await api.inProject(method, path, method === 'POST' ? { body: {} } : {});
    expect([sent.status, sent.json.code]).toEqual([404, 'batch_not_found']);
  });

  it('is a batch inside of one that is not there', async () => {
    const sent = await post('/batches', { jobs: [], parentId: nobody });
    expect([sent.status, sent.json.code]).toEqual([404, 'batch_not_found']);
    const added = await post(`/batches/${nobody}/jobs`, { jobs: [job('a')] });
    expect([added.status, added.json.code]).toEqual([404, 'batch_not_found']);
  });
});
