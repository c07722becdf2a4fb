import pg from 'pg';
import { adminUrl } from './config.ts';

/** Runs one statement as the superuser on the shared server, on a connection of its own. */
export async function runAsAdmin(sql: string): Promise<void> {
  const client = new pg.Client(requireAdminUrl());
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** The URL of another database on the shared server. */
export function urlOfDatabase(name: string): string {
  const url = new URL(requireAdminUrl());
  url.pathname = `/${name}`;
  return url.href;
}

function requireAdminUrl(): string {
  const url = adminUrl();
  if (url !== undefined) return url;
  throw new Error(
    'This test needs a database: name its file *.db.test.ts, or put it in tests/, ' +
      'so that it runs in a project with one',
  );
}
