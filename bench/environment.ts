import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type as systemType } from 'node:os';
import type { BenchServer } from './bench-server.ts';

/** On what the figures were measured. */
export interface Environment {
  readonly measuredAt: string;
  readonly commit: string;
  readonly command: string;
  readonly node: string;
  readonly postgres: string;
  readonly system: string;
  readonly processors: string;
  readonly memoryGb: number;
  /** Settings of the server that decide about speed and durability. */
  readonly settings: Readonly<Record<string, string>>;
}

const shownSettings = [
  'shared_buffers',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'data_checksums',
  'max_wal_size',
  'wal_level',
  'jit',
];

/** Reads the versions, the machine and the server's settings. */
export async function readEnvironment(
  server: BenchServer,
  args: readonly string[],
): Promise<Environment> {
  const rows = await server.ask<{ readonly name: string; readonly value: string }>(
    `select name, current_setting(name) as value from pg_settings where name = any ($1::text[]) order by name`,
    [`{${shownSettings.join(',')}}`],
  );
  const [version] = await server.ask<{ readonly version: string }>(
    `select current_setting('server_version') as version`,
  );
  const processors = cpus();
  return {
    measuredAt: new Date().toISOString(),
    commit: readCommit(),
    command: ['npm run bench', ...(args.length === 0 ? [] : ['--', ...args])].join(' '),
    node: process.versions.node,
    postgres: version?.version ?? 'unknown',
    system: `${systemType()} ${release()}`,
    processors: `${String(processors.length)} × ${processors[0]?.model.trim() ?? 'unknown'}`,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    settings: Object.fromEntries(rows.map(({ name, value }) => [name, value])),
  };
}

/** The commit of the checkout, marked when it was changed since. */
function readCommit(): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  try {
    const changed = git('status', '--porcelain', '--', '../packages', '../apps').length > 0;
    return git('rev-parse', '--short', 'HEAD') + (changed ? ' with changes' : '');
  } catch {
    return 'unknown';
  }
}
