import type { Database } from '@holdfast/database';
import { waitFor } from '@holdfast/testing';
import { ask } from './records.ts';

/** What is wrong with a batch, in words. */
export interface BatchFault {
  readonly batch: string;
  readonly fault: string;
}

/** Each batch with what its rows count, and what its members really are. Inner batches count as what they reported. */
const batchesSql = `
  with member as (
    select j.batch_id as id, j.status::text as status
    from holdfast.all_jobs as j
    left join holdfast.batch_callbacks as c on c.job_id = j.id
    where c.job_id is null
    union all
    select i.parent_id, i.reported_status::text from holdfast.batches as i where i.parent_id is not null
  ),
  counted as (
    select id, count(*)::integer as total,
      count(*) filter (where status = 'completed')::integer as completed,
      count(*) filter (where status = 'dead_letter')::integer as dead_letter,
      count(*) filter (where status = 'cancelled')::integer as cancelled
    from member
    group by id
  )
  select b.id, b.kind, b.allow_failures, b.finished_at is not null as is_finished,
    b.total_count, b.completed_count, b.dead_letter_count, b.cancelled_count,
    coalesce(m.total, 0) as true_total, coalesce(m.completed, 0) as true_completed,
    coalesce(m.dead_letter, 0) as true_dead_letter, coalesce(m.cancelled, 0) as true_cancelled
  from holdfast.batches as b
  left join counted as m on m.id = b.id`;

/** Each callback with the rows of its job. */
const callbacksSql = `
  with made as (select id, count(*)::integer as count from holdfast.all_jobs group by id),
  ran as (
    select job_id, count(*)::integer as count
    from holdfast.job_executions
    where status = 'completed'
    group by job_id
  )
  select c.batch_id, c.role, c.percent, c.enqueued_at is not null as is_enqueued, c.ended_at is not null as has_ended,
    coalesce(made.count, 0) as job_count, coalesce(ran.count, 0) as completed_count
  from holdfast.batch_callbacks as c
  left join made on made.id = c.job_id
  left join ran on ran.job_id = c.job_id`;

interface BatchRow {
  readonly id: string;
  readonly kind: string;
  readonly allow_failures: boolean;
  readonly is_finished: boolean;
  readonly total_count: number;
  readonly completed_count: number;
  readonly dead_letter_count: number;
  readonly cancelled_count: number;
  readonly true_total: number;
  readonly true_completed: number;
  readonly true_dead_letter: number;
  readonly true_cancelled: number;
}

interface CallbackRow {
  readonly batch_id: string;
  readonly role: 'progress' | 'catch' | 'then' | 'finally';
  readonly percent: number;
  readonly is_enqueued: boolean;
  readonly has_ended: boolean;
  readonly job_count: number;
  readonly completed_count: number;
}

/** What is on its way, waits to be settled, or is not finished, counted by kind. */
const leftSql = `
  select 'job ' || status || ' ' || type || coalesce(' ' || reason, '') || ' after ' || crash_count || ' crashes' as what,
    count(*)::integer as count
  from holdfast.jobs where status not in ('failed', 'dead_letter')
  group by 1
  union all
  select 'ending ' || status, count(*)::integer from holdfast.job_endings group by 1
  union all
  select 'open ' || kind, count(*)::integer from holdfast.batches where finished_at is null group by 1`;

interface Left {
  readonly what: string;
  readonly count: number;
}

/** Waits until no job is on its way, no ending waits, and every batch has finished. */
export async function untilSettled(database: Database): Promise<void> {
  let left: readonly Left[] = [];
  const isSettled = async () => {
    left = await ask<Left>(database, leftSql);
    return left.length === 0;
  };
  try {
    await waitFor('everything is settled', isSettled, { timeoutMs: 120_000 });
  } catch (cause) {
    const list = left.map(({ what, count }) => `${String(count)} × ${what}`).join(', ');
    throw new Error(`Left behind: ${list}`, { cause });
  }
}

/**
 * Holds every batch that is settled against its members, and every callback against its batch: each is called exactly when
 * it should be, once, and has run to its end once.
 */
export async function findBatchFaults(database: Database): Promise<readonly BatchFault[]> {
  const batches = await ask<BatchRow>(database, batchesSql);
  const callbacks = await ask<CallbackRow>(database, callbacksSql);
  const byId = new Map(batches.map((batch) => [batch.id, batch]));
  return [
    ...batches.flatMap(faultsOfCounts),
    ...callbacks.flatMap((callback) => faultsOfCallback(callback, byId.get(callback.batch_id))),
  ];
}

function faultsOfCounts(batch: BatchRow): readonly BatchFault[] {
  const counted = [
    ...[batch.total_count, batch.completed_count],
    ...[batch.dead_letter_count, batch.cancelled_count],
  ].join();
  const real = [
    ...[batch.true_total, batch.true_completed],
    ...[batch.true_dead_letter, batch.true_cancelled],
  ].join();
  const faults: BatchFault[] = [];
  if (counted !== real) faults.push({ batch: batch.id, fault: `${counted} counted, not ${real}` });
  if (!batch.is_finished) faults.push({ batch: batch.id, fault: 'has not finished' });
  return faults;
}

function faultsOfCallback(
  callback: CallbackRow,
  batch: BatchRow | undefined,
): readonly BatchFault[] {
  const { batch_id, role, percent, job_count, completed_count } = callback;
  const isCalled = batch !== undefined && isDue(callback, batch);
  const expected = isCalled ? 'called once' : 'not called';
  const found =
    callback.is_enqueued && callback.has_ended && job_count === 1 && completed_count === 1
      ? 'called once'
      : !callback.is_enqueued && job_count === 0
        ? 'not called'
        : `${String(job_count)} jobs, completed ${String(completed_count)} times`;
  return expected === found
    ? []
    : [{ batch: batch_id, fault: `${role} ${String(percent)}: ${found} in place of ${expected}` }];
}

function isDue({ role }: CallbackRow, batch: BatchRow): boolean {
  const failedCount = batch.true_dead_letter + batch.true_cancelled;
  switch (role) {
    case 'progress':
      return batch.true_total > 0;
    case 'catch':
      return batch.true_dead_letter > 0;
    case 'then':
      return failedCount === 0 || batch.allow_failures;
    case 'finally':
      return true;
  }
}
