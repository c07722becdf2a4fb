import { describe, expect, it } from 'vitest';
import { openDatabase } from '@holdfast/database';
import { createTestDatabase } from '@holdfast/testing';

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

  it('is gone after its drop, whoever was connected', async () => {
    const { url, drop } = await createTestDatabase();
    const straggler = openDatabase({ connectionString: url });
    await straggler.execute('select 1');
    await drop();
    await expect(straggler.execute('select 1')).rejects.toThrow();
    await straggler.close();
  });
});
