import { createNotifier, openDatabase, openListener, wakeUpChannel } from '@holdfast/database';
import { createTestDatabase, waitFor } from '@holdfast/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database, Listener, Notifier, Statement } from '@holdfast/database';
import type { TestDatabase } from '@holdfast/testing';

let test: TestDatabase;
let notifier: Notifier;
let listener: Listener;
let heard: string[];

beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(async () => {
  await test.drop();
});
beforeEach(async () => {
  heard = [];
  notifier = createNotifier(test.database);
  listener = listenOn(test.database);
  await waitFor('the listener is connected', () => listener.connected);
});
afterEach(async () => {
  await notifier.close();
  await listener.close();
});

function listenOn(database: Database, into = heard): Listener {
  return openListener(database, {
    onQueue: (id) => into.push(`queue ${id}`),
    onDue: () => into.push('due'),
    onWorker: (id) => into.push(`worker ${id}`),
    onConnected: () => into.push('connected'),
  });
}

function waitToHear(what: string, times = 1): Promise<boolean> {
  return waitFor(`"${what}" is heard ${String(times)} times`, () => countHeard(what) >= times);
}

function countHeard(what: string): number {
  return heard.filter((each) => each === what).length;
}

/** Ends every session that listens or notifies, as a restart of the server or a person would. */
async function terminateOthers(): Promise<void> {
  const text = `select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and (query ilike 'listen%' or query = 'select 1' or query ilike '%pg_notify%')`;
  const statement: Statement = { name: 'test_terminate_others', text };
  expect(await test.database.query(statement)).not.toEqual([]);
}

describe('a wake-up', () => {
  it('of a queue, the schedulers and a worker each reach whom they are for', async () => {
    notifier.wakeQueues(['12', '13']);
    notifier.wakeSchedulers();
    notifier.wakeWorker('0190-w');
    for (const what of ['queue 12', 'queue 13', 'due', 'worker 0190-w']) await waitToHear(what);
    expect(heard).toHaveLength(5);
  });

  it('that is asked many times at once is sent twice: at once, and once more for the latecomers', async () => {
    for (let count = 0; count < 100; count += 1) notifier.wakeQueues(['7']);
    await waitToHear('queue 7', 2);
    // One that is sent later, on the same connection, shows that nothing else is on its way.
    notifier.wakeWorker('last');
    await waitToHear('worker last');
    expect(countHeard('queue 7')).toBe(2);
  });

  it('that is owed when the notifier closes is still sent', async () => {
    notifier.wakeQueues(['8']);
    notifier.wakeQueues(['8']);
    await notifier.close();
    await waitToHear('queue 8', 2);
  });

  it('is heard in its own schema only', async () => {
    const elsewhere = openDatabase({ connectionString: test.url, schema: 'Other' });
    expect(wakeUpChannel('Other')).not.toBe(wakeUpChannel('holdfast'));
    const other = createNotifier(elsewhere);
    other.wakeQueues(['9']);
    await other.close();
    await elsewhere.close();
    notifier.wakeSchedulers();
    await waitToHear('due');
    expect(countHeard('queue 9')).toBe(0);
  });
});

describe('a terminated connection', () => {
  it('is replaced by the listener, which says that wake-ups may have been missed', async () => {
    for (let round = 2; round < 5; round += 1) {
      await terminateOthers();
      await waitFor(
        'the loss is seen',
        () => !listener.connected || countHeard('connected') >= round,
      );
      await waitToHear('connected', round);
    }
    await waitFor('the listener is connected', () => listener.connected);
    notifier.wakeQueues(['20']);
    await waitToHear('queue 20');
  });

  it('of the notifier costs at most the wake-ups of that moment', async () => {
    notifier.wakeQueues(['30']);
    await waitToHear('queue 30');
    await terminateOthers();
    await waitToHear('connected', 2);
    await waitFor('a later wake-up is heard', () => {
      notifier.wakeQueues(['31']);
      return countHeard('queue 31') > 0;
    });
  });
});

describe('behind a pooler', () => {
  it('nothing is sent and nothing is heard, and both close', async () => {
    const pooled = openDatabase({ connectionString: test.url, pooled: true });
    const deaf = listenOn(pooled);
    const silent = createNotifier(pooled);
    silent.wakeQueues(['40']);
    await silent.close();
    expect(deaf.connected).toBe(false);
    notifier.wakeSchedulers();
    await waitToHear('due');
    expect(countHeard('queue 40')).toBe(0);
    await deaf.close();
    await pooled.close();
  });
});

describe('a closed listener', () => {
  it('hears nothing more and does not connect again', async () => {
    const heardByFirst: string[] = [];
    const first = listenOn(test.database, heardByFirst);
    await waitFor('the first listener is connected', () => first.connected);
    await first.close();
    notifier.wakeQueues(['50']);
    await waitToHear('queue 50');
    expect(heardByFirst).toEqual(['connected']);
    expect(first.connected).toBe(false);
  });
});
