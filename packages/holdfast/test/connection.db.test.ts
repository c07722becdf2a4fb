import { createTestDatabase, createEmptyDatabase } from '@holdfast/testing';
import { Holdfast, createWorker } from 'holdfast';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingId } from './support/missing-id.ts';
import { openHoldfast } from './support/open-holdfast.ts';
import type { TestHoldfast } from './support/open-holdfast.ts';

let test: TestHoldfast;
let holdfast: Holdfast;

beforeAll(async () => {
  test = await openHoldfast();
  ({ holdfast } = test);
});
afterAll(() => test.close());

describe('the connection', () => {
  it('is made at the first call, and not after the close', async () => {
    const idle = new Holdfast({ connectionString: 'postgresql://localhost:1/none' });
    await idle.close();
    await idle.close();
    await expect(idle.enqueue('any')).rejects.toMatchObject({ code: 'closed' });
  });

  it('is closed behind the calls that are under way', async () => {
    const busy = new Holdfast({ connectionString: test.server.url });
    const calls = [
      busy.enqueue('under.way'),
      busy.enqueueMany('under.way', [1, 2, 3], { sliceSize: 1 }),
      busy.batch([]).enqueue(),
    ];
    const closed = busy.close();
    await expect(Promise.all(calls)).resolves.toHaveLength(3);
    await closed;
    await expect(busy.enqueue('too.late')).rejects.toMatchObject({ code: 'closed' });
    await expect(busy.migrate()).rejects.toMatchObject({ code: 'closed' });
  });

  it('is closed behind its workers, whose handlers can use it to their end', async () => {
    const own = new Holdfast({ connectionString: test.server.url });
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const worker = createWorker({ holdfast: own }).handle('last', async (_, ctx) => {
      begin();
      await ended;
      return (await ctx.enqueue('child')).status;
    });
    await worker.start();
    const { id } = await own.enqueue('last');
    await begun;
    const closed = own.close();
    end();
    await closed;
    await worker.stop();
    expect(await holdfast.get(id)).toMatchObject({ status: 'completed', result: 'queued' });
  });

  it('rejects what callers in plain JavaScript hand in, and never throws at once', async () => {
    const calls = [
      () => holdfast.get('x'),
      () => holdfast.wait('x'),
      () => holdfast.cancel('x'),
      () => holdfast.retry(7 as never),
      () => holdfast.replay('x'),
      () => holdfast.runNow(''),
      () => holdfast.cancel('01920000-0000-7000-8000-00000000dddd', { reason: 'a\0b' }),
      () => holdfast.queues.pause('gate', { reason: 'x'.repeat(501) }),
      () => holdfast.batches.get('x'),
      () => holdfast.batches.list({ limit: 0 }),
      () => holdfast.batches.cancel('x'),
      () => holdfast.batches.retryFailed('x'),
      () => holdfast.readEvents({ limit: 0 }),
      () => holdfast.unsubscribe('x'),
      () => holdfast.subscribe('some.event', { type: 'no definition' } as never),
      () => holdfast.schedules.pause('gate', { by: 'a\0b' }),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: 'options_invalid' });
    }
  });

  it('says with a code that it cannot be made', async () => {
    const warnings: unknown[] = [];
    const quiet = () => undefined;
    const warn = (_fields: object, message: string) => void warnings.push(message);
    const logger = { debug: quiet, info: quiet, error: quiet, warn };
    const lost = new Holdfast({ connectionString: 'postgresql://127.0.0.1:1/none', logger });
    const error: unknown = await lost.enqueue('any').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'database_unavailable', cause: { code: 'ECONNREFUSED' } });
    expect(warnings).toHaveLength(9);
    await lost.close();
  });

  it('says with a code and a hint that the server does not let it in', async () => {
    const refusals: readonly (readonly [(url: URL) => void, RegExp])[] = [
      [
        (url) => (url.password = 'wrong'),
        /password authentication failed .*check user and password/,
      ],
      [(url) => (url.password = ''), /the connection has no password/],
      [(url) => (url.pathname = '/none'), /database "none" does not exist; create it/],
    ];
    for (const [change, message] of refusals) {
      const url = new URL(test.server.url);
      change(url);
      await using refused = new Holdfast({ connectionString: url.href });
      const calls = [
        () => refused.enqueue('any'),
        () => refused.migrate(),
        () => refused.get(missingId),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({
          code: 'database_refused',
          message: expect.stringMatching(message) as string,
        });
      }
    }
  });

  it('refuses what is no connection URI, and does not repeat it', () => {
    for (const uri of ['localhost:5432/app', 'mysql://u:s3cret@h/db', 'postgres://u:s3cr#t@h/db']) {
      const make = () => new Holdfast({ connectionString: uri });
      expect(make).toThrow(/such as postgres:\/\/user:password@host:5432\/name; special/);
      expect(make).not.toThrow(/s3cr/);
    }
    expect(() => new Holdfast({ connectionString: 'postgres://u:p@/db?host=/run' })).not.toThrow();
  });

  it('may be described by a pool', async () => {
    const { hostname, port, username, password, pathname } = new URL(test.server.url);
    const pool = new pg.Pool({
      host: hostname,
      port: Number(port),
      user: username,
      password: decodeURIComponent(password),
      database: pathname.slice(1),
    });
    await using other = new Holdfast({ pool });
    const { id } = await other.enqueue('any', 'by pool');
    expect(await holdfast.get(id)).toMatchObject({ payload: 'by pool' });
    await pool.end();
  });

  it('needs to know where', () => {
    expect(() => new Holdfast({ connectionString: process.env['NO_SUCH_VARIABLE'] })).toThrow(
      /connectionString must be/,
    );
    // @ts-expect-error as a caller in plain JavaScript
    expect(() => new Holdfast({ conectionString: 'x' })).toThrow(/did you mean "connectionString"/);
  });

  it('tells to migrate first, and migrates', async () => {
    const server = await createEmptyDatabase();
    const fresh = new Holdfast({ connectionString: server.url, schema: 'jobs' });
    const refused = fresh.enqueue('any');
    await expect(refused).rejects.toMatchObject({ code: 'schema_outdated' });
    await expect(refused).rejects.toThrow(
      'no tables of Holdfast in the schema "jobs": run "HOLDFAST_SCHEMA=jobs npx holdfast migrate", or call',
    );
    await fresh.migrate();
    const { id } = await fresh.enqueue('any', 'in a schema of its own');
    const client = new pg.Client(server.url);
    await client.connect();
    await client.query('begin');
    const inside = await fresh.enqueue('any', 'in a transaction', { tx: client });
    await client.query('commit');
    const { rows } = await client.query('select id from jobs.jobs order by id');
    expect(rows).toEqual([{ id }, { id: inside.id }]);
    await client.end();
    await fresh.close();
    await server.drop();
  });

  it('names a project that does not exist', async () => {
    const server = await createTestDatabase();
    const lost = new Holdfast({ connectionString: server.url, project: 'none' });
    await expect(lost.enqueue('any')).rejects.toMatchObject({ code: 'project_not_found' });
    await lost.close();
    await server.drop();
  });
});
