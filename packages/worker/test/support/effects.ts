import type { ClientBase } from 'pg';
import type { JobContext } from '../../src/handler.ts';
import type { Workshop } from './workshop.ts';

/** Makes the table that handlers of tests write to. */
export async function createEffects({ database }: Workshop): Promise<void> {
  await database.execute('create table effects (job_id uuid not null, what text not null)');
}

/** What a handler does in its transaction. */
export async function writeEffect(
  tx: ClientBase,
  context: JobContext,
  what = 'done',
): Promise<void> {
  await tx.query('insert into effects values ($1, $2)', [context.job.id, what]);
}

/** What is committed for a job. */
export async function effectsOf(shop: Workshop, id: string): Promise<readonly string[]> {
  const rows = await shop.ask<{ readonly what: string }>(
    'select what from effects where job_id = $1',
    [id],
  );
  return rows.map(({ what }) => what);
}
