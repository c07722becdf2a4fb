import { describe, expect, it } from 'vitest';
import { listPartitions, openDatabase } from '@holdfast/database';
import { createTestDatabase } from '@holdfast/testing';
import { moveToToday } from '../src/test-database.ts';

describe('a test database', () => {
  it('comes with the schema and is not seen by the next one', async () => {
    const first = await createTestDatabase();
    const second = await createTestDatabase();
    await first.database.execute('create table holdfast.mark ()');
    await expect(
      second.database.execute('select from holdfast.jobs, holdfast.mark'),
    ).rejects.toThrow(/mark/);
    await Promise.all([first.drop(), second.drop()]);
  });

  it('has the days of today also when its template is of another day', async () => {
    const { database, drop } = await createTestDatabase();
    const fresh = await listPartitions(database, 'job_logs');
    const { name: last = '' } = fresh.at(-1) ?? {};
    await database.execute(`
      drop table holdfast.${last};
      create table holdfast.job_logs_20200101 partition of holdfast.job_logs for values from ('20200101') to ('20200102');
    `);
    await moveToToday(database);
    expect(await listPartitions(database, 'job_logs')).toEqual(fresh);
    await drop();
  });

  it('is gone after its drop, whoever was connected', async () => {
    const { url, drop } = await createTestDatabase();
    const straggler = openDatabase({ connectionString: url });
    await straggler.execute('select 1');
    await drop();
    await expect(straggler.execute('select 1')).rejects.toThrow();
    await straggler.close();
  });
});
