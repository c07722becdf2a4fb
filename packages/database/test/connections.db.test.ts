import { openDatabase, openLane } from '@holdfast/database';
import { createTestDatabase, waitFor } from '@holdfast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, Lane, Statement } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await test.drop();
});
beforeEach(() => {
  database = openDatabase({ connectionString: test.url, poolSize: 1 });
});
afterEach(async () => {
  await database.close();
});

const readSetting: Statement = {
  name: 'test_read_setting',
  text: 'select current_setting($1) as value',
};
const readPid: Statement = { name: 'test_read_pid', text: 'select pg_backend_pid() as pid' };

async function settingOf(db: Pick<Database, 'query'>, name: string): Promise<string | undefined> {
  return (await db.query<{ value: string }>(readSetting, [name]))[0]?.value;
}

async function pidOf(db: Pick<Database, 'query'>): Promise<number> {
  return (await db.query<{ pid: number }>(readPid))[0]?.pid ?? 0;
}

/** How many sessions of this name the server has. */
async function countSessions(applicationName: string): Promise<number> {
  const text =
    'select count(*)::integer as count from pg_stat_activity where application_name = $1';
  const statement = { name: 'test_count_sessions', text };
  const [row] = await test.database.query<{ count: number }>(statement, [applicationName]);
  return row?.count ?? 0;
}

/** Calls again and again, in every turn of the event loop, until the lane has another connection. */
async function callUntilElsewhere(lane: Lane, pid: number): Promise<void> {
  for (;;) {
    const answered = await pidOf(lane).catch(() => pid);
    if (answered !== pid) return;
    await new Promise(setImmediate);
  }
}

async function terminate(pid: number): Promise<void> {
  const text = 'select pg_terminate_backend($1, 10000)';
  await test.database.query({ name: 'test_terminate', text }, [pid]);
}

/** Sends the warning that PostgreSQL sends when the wait for a synchronous standby is cancelled. */
const warning: Statement = {
  name: 'test_warn',
  text: `do $$ begin raise warning 'canceling wait for synchronous replication due to user request'; end $$`,
};

describe('the pool', () => {
  it('gives every session its limits', async () => {
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const values = await Promise.all(names.map((name) => settingOf(database, name)));
    expect(values).toEqual(['10s', '2s', '10s']);
    expect(await settingOf(database, 'TimeZone')).toBe('UTC');
    expect(await settingOf(database, 'transaction_isolation')).toBe('read committed');
  });

  it('goes on after a script that failed inside its own transaction', async () => {
    const script = 'begin; create table holdfast.half (); select 1 / 0; commit;';
    await expect(database.execute(script)).rejects.toMatchObject({ code: '22012' });
    await expect(database.execute('create table holdfast.half ()')).resolves.toBeUndefined();
    await database.execute('drop table holdfast.half');
  });

  it('goes on after its connection was terminated', async () => {
    const pid = await pidOf(database);
    await terminate(pid);
    const next = await waitFor('the pool answers again', () => pidOf(database));
    expect(next).not.toBe(pid);
  });
});

describe('a transaction', () => {
  const raise = (code: string): Statement => ({
    name: `test_raise_${code}`,
    text: `do $$ begin raise exception 'on purpose' using errcode = '${code}'; end $$`,
  });

  it.each(['40001', '40P01', '55P03'])('runs again after the conflict %s', async (code) => {
    let tries = 0;
    const result = await database.transaction(async (tx) => {
      tries += 1;
      if (tries < 3) await tx.query(raise(code));
      return tries;
    });
    expect(result).toBe(3);
  });

  it('gives up after five conflicts', async () => {
    let tries = 0;
    const hopeless = database.transaction(async (tx) => {
      tries += 1;
      await tx.query(raise('40001'));
    });
    await expect(hopeless).rejects.toMatchObject({ code: '40001' });
    expect(tries).toBe(5);
  });

  it('runs once when it fails otherwise, and leaves nothing behind', async () => {
    let tries = 0;
    const failing = database.transaction(async (tx) => {
      tries += 1;
      await tx.query({ name: 'test_make', text: 'create table holdfast.half ()' });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(tries).toBe(1);
    await expect(database.execute('select from holdfast.half')).rejects.toMatchObject({
      code: '42P01',
    });
  });

  it('is no success when the standby did not confirm it', async () => {
    await expect(database.transaction((tx) => tx.query(warning))).rejects.toMatchObject({
      code: '08007',
    });
  });
});

describe('a lane', () => {
  let lane: Lane;

  beforeEach(() => {
    lane = database.openLane('claims');
  });
  afterEach(async () => {
    await lane.close();
  });

  it('takes a statement for no success that the standby did not confirm, and goes on', async () => {
    const answers = await Promise.allSettled([lane.query(warning), lane.query(warning)]);
    expect(answers).toMatchObject([{ reason: { code: '08007' } }, { reason: { code: '08007' } }]);
    expect(await settingOf(lane, 'synchronous_commit')).toBe('off');
  });

  it('plans for its indexes only, and claims do not wait for the disk', async () => {
    expect(await settingOf(lane, 'plan_cache_mode')).toBe('force_generic_plan');
    expect(await settingOf(lane, 'enable_seqscan')).toBe('off');
    expect(await settingOf(lane, 'synchronous_commit')).toBe('off');
  });

  it('finishes do wait for the disk', async () => {
    const finishes = database.openLane('lane');
    expect(await settingOf(finishes, 'synchronous_commit')).toBe(
      await settingOf(database, 'synchronous_commit'),
    );
    await finishes.close();
  });

  it('has many statements under way at once, and a failing one fails alone', async () => {
    const divide: Statement = { name: 'test_divide', text: 'select 12 / $1::integer as quotient' };
    const answers = await Promise.allSettled(
      [1, 2, 0, 3].map((divisor) => lane.query<{ quotient: number }>(divide, [divisor])),
    );
    const values = answers.map((each) =>
      each.status === 'fulfilled' ? each.value[0]?.quotient : 'failed',
    );
    expect(values).toEqual([12, 6, 'failed', 4]);
  });

  it('connects again after its connection was terminated, and leaves none behind', async () => {
    const name = 'lane-under-test';
    const own = openLane({ connectionString: test.url, applicationName: name }, 'claims');
    for (let round = 0; round < 10; round += 1) {
      const pid = await pidOf(own);
      await Promise.all([terminate(pid), callUntilElsewhere(own, pid)]);
    }
    await waitFor('one session is left', async () => (await countSessions(name)) === 1);
    await own.close();
    await waitFor('no session is left', async () => (await countSessions(name)) === 0);
  });
});
