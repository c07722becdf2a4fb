import { openDatabase } from '@holdfast/database';
import { adminUrl } from './config.ts';

/** Runs one statement as the superuser on the shared server, on a connection of its own. */
export async function runAsAdmin(sql: string): Promise<void> {
  const database = openDatabase({ connectionString: requireAdminUrl(), poolSize: 1 });
  try {
    await database.execute(sql);
  } finally {
    await database.close();
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
