import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { createTestDatabase } from '@holdfast/testing';
import type { TestDatabase } from '@holdfast/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInvoices } from './support/library.ts';
import { makeSampleFolder, sampleNames } from './support/sample-folder.ts';

const run = promisify(execFile);
const tsx = createRequire(import.meta.url).resolve('tsx');
const samples = makeSampleFolder();
let db: TestDatabase;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.database.execute(createInvoices);
  await run(process.execPath, ['--conditions=@holdfast/source', '--import', tsx, samples.all], {
    env: { ...process.env, DATABASE_URL: db.url },
  });
}, 180_000);

afterAll(async () => {
  await db.drop();
  samples.remove();
});

describe('the programs of the guide about transactions', () => {
  it.each(sampleNames())('commit their row and their job together: %s', async (name) => {
    const rows = await db.database.query(
      {
        name: 'invoices_with_jobs',
        text: `select j.status, j.type from public.invoices as i
        join holdfast.jobs as j on j.payload ->> 'invoiceId' = i.id where i.id = $1`,
      },
      [`${name}-1`],
    );
    expect(rows).toEqual([{ status: 'queued', type: 'invoice.send' }]);
  });
});
