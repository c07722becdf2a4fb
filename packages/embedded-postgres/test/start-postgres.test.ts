import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { removeDataDirectory, startPostgres } from '@holdfast/embedded-postgres';
import { removeScratchFoldersAfterEach, scratchFolder } from './scratch-folder.ts';
import type { EmbeddedPostgres, StartPostgresOptions } from '@holdfast/embedded-postgres';

const isRoot = process.getuid?.() === 0;
const running: EmbeddedPostgres[] = [];

removeScratchFoldersAfterEach();
afterEach(async () => {
  for (const server of running.splice(0).reverse()) await server.stop('immediate');
});

async function start(options: Partial<StartPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startPostgres({
    dataDir: join(scratchFolder(), 'pg'),
    settings: { fsync: 'off' },
    ...options,
  });
  running.push(server);
  return server;
}

async function ask(server: EmbeddedPostgres, sql: string): Promise<Record<string, unknown>> {
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows[0] ?? {};
  } finally {
    await client.end();
  }
}

function postmasterPid(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

describe('a new data directory', () => {
  it('gets a durable PostgreSQL 17 with checksums, reached by TCP with a password', async () => {
    const server = await start({ settings: {} });
    const settings = await ask(
      server,
      `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
        current_setting('synchronous_commit') as synchronous_commit,
        current_setting('data_checksums') as data_checksums,
        current_setting('server_version_num')::int / 10000 as major`,
    );
    expect(settings).toEqual({
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      data_checksums: 'on',
      major: 17,
    });
    expect(server.version).toMatch(/^17\./);
  });

  it('lets nobody in without the password', async () => {
    const server = await start();
    const url = new URL(server.url);
    url.password = 'wrong';
    const client = new pg.Client(url.href);
    await expect(client.connect()).rejects.toThrow(/password authentication failed/);
    expect(statSync(`${server.dataDir}-password`).mode & 0o077).toBe(0);
  });

  it('takes the settings that the caller gives', async () => {
    const server = await start({ settings: { fsync: 'off', work_mem: '12MB' } });
    const settings = await ask(
      server,
      "select current_setting('fsync') as fsync, current_setting('work_mem') as work_mem",
    );
    expect(settings).toEqual({ fsync: 'off', work_mem: '12MB' });
  });

  it('belongs to an account that is not root', async () => {
    const server = await start();
    const owner = statSync(server.dataDir).uid;
    expect(owner).not.toBe(0);
    if (!isRoot) expect(owner).toBe(process.getuid?.());
  });

  it.runIf(isRoot)('moves to an open folder when the account cannot enter its parent', async () => {
    const cacheDir = scratchFolder();
    const dataDir = join(scratchFolder(), 'closed', 'pg');
    mkdirSync(dirname(dataDir), { mode: 0o700 });
    const first = await start({ dataDir, cacheDir });
    await ask(first, 'create table kept ()');
    await first.stop();
    const second = await start({ dataDir, cacheDir });
    expect(second.dataDir).toBe(first.dataDir);
    expect(second.dataDir.startsWith(cacheDir)).toBe(true);
    expect(await ask(second, "select to_regclass('kept')::text as name")).toEqual({ name: 'kept' });
  });
});

describe('a second start', () => {
  it('joins the running server and leaves it running when it stops', async () => {
    const first = await start();
    const second = await start({ dataDir: first.dataDir });
    expect(second).toMatchObject({ reused: true, url: first.url });
    await second.stop();
    expect(await ask(first, 'select 1 as one')).toEqual({ one: 1 });
  });

  it('finds the data again after an orderly stop', async () => {
    const first = await start();
    await ask(first, 'create table kept ()');
    await first.stop();
    const second = await start({ dataDir: first.dataDir });
    expect(second.reused).toBe(false);
    expect(await ask(second, "select to_regclass('kept')::text as name")).toEqual({ name: 'kept' });
  });

  it('gives both of two simultaneous starters the same server', async () => {
    const dataDir = join(scratchFolder(), 'pg');
    const [one, two] = await Promise.all([start({ dataDir }), start({ dataDir })]);
    expect(one.url).toBe(two.url);
    expect([one.reused, two.reused].sort()).toEqual([false, true]);
  });
});

describe('what a crash leaves behind', () => {
  it('starts over a pid file whose process is gone', async () => {
    const first = await start();
    const pidFile = join(first.dataDir, 'postmaster.pid');
    const text = readFileSync(pidFile);
    await first.stop();
    writeFileSync(pidFile, text);
    const second = await start({ dataDir: first.dataDir });
    expect(second.reused).toBe(false);
    expect(await ask(second, 'select 1 as one')).toEqual({ one: 1 });
  });

  it('starts over a pid file whose number now belongs to another program', async () => {
    const first = await start();
    const pidFile = join(first.dataDir, 'postmaster.pid');
    const text = readFileSync(pidFile, 'utf8');
    await first.stop();
    writeFileSync(pidFile, text.replace(/^\d+/, String(process.pid)));
    const second = await start({ dataDir: first.dataDir });
    expect(await ask(second, 'select 1 as one')).toEqual({ one: 1 });
  });

  it('makes a half-made data directory anew', async () => {
    const dataDir = join(scratchFolder(), 'pg');
    mkdirSync(join(dataDir, 'base'), { recursive: true });
    writeFileSync(join(dataDir, 'PG_VERSION'), '17\n');
    const server = await start({ dataDir });
    expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
  });

  it('recovers what was committed before an immediate restart, on the same port', async () => {
    const server = await start();
    const before = postmasterPid(server.dataDir);
    await ask(server, 'create table kept ()');
    await server.restartImmediate();
    expect(postmasterPid(server.dataDir)).not.toBe(before);
    expect(await ask(server, "select to_regclass('kept')::text as name")).toEqual({ name: 'kept' });
    expect(readFileSync(`${server.dataDir}.log`, 'utf8')).toContain('automatic recovery');
  });
});

describe('what it refuses', () => {
  it('does not touch a folder with files of somebody else', async () => {
    const dataDir = scratchFolder();
    writeFileSync(join(dataDir, 'thesis.txt'), 'years of work');
    await expect(start({ dataDir })).rejects.toMatchObject({
      code: 'embedded_postgres_data_dir_unusable',
    });
    expect(existsSync(join(dataDir, 'thesis.txt'))).toBe(true);
  });

  it('names both ways out when the data is of another PostgreSQL', async () => {
    const dataDir = scratchFolder();
    mkdirSync(join(dataDir, 'global'));
    writeFileSync(join(dataDir, 'global', 'pg_control'), '');
    writeFileSync(join(dataDir, 'PG_VERSION'), '16\n');
    await expect(start({ dataDir })).rejects.toThrow(/PostgreSQL 16.*npm run reset.*DATABASE_URL/s);
  });

  it('shows the end of the log when the server cannot start', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    const { port } = blocker.address() as AddressInfo;
    try {
      await expect(start({ port })).rejects.toThrow(/Address already in use/);
    } finally {
      blocker.close();
    }
  });
});

describe('removing a data directory', () => {
  it('refuses while the server runs, and then leaves nothing behind', async () => {
    const server = await start();
    const { dataDir } = server;
    expect(() => {
      removeDataDirectory({ dataDir });
    }).toThrow(/Stop Holdfast first/);
    await server.stop();
    removeDataDirectory({ dataDir });
    expect(readdirSync(dirname(dataDir))).toEqual([]);
  });

  it('does not touch files of somebody else', () => {
    const dataDir = scratchFolder();
    writeFileSync(join(dataDir, 'thesis.txt'), 'years of work');
    expect(() => {
      removeDataDirectory({ dataDir });
    }).toThrow(/holds other files/);
  });
});
