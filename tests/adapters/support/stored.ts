import type { TestDatabase } from '@holdfast/testing';

/** A row of the jobs' table, as `to_jsonb` shows it. */
export type StoredJob = Readonly<Record<string, unknown>>;

/** Looks at what is committed, on a connection apart from the library's. */
export interface Stored {
  jobs(): Promise<readonly StoredJob[]>;
  invoiceIds(): Promise<readonly string[]>;
  /** Removes every job and invoice. */
  clear(): Promise<void>;
}

/** A look at the database of a test. */
export function storedIn({ database }: TestDatabase): Stored {
  return {
    async jobs() {
      const rows = await database.query<{ job: StoredJob }>({
        name: 'stored_jobs',
        text: 'select to_jsonb(j) as job from holdfast.jobs as j order by j.id',
      });
      return rows.map(({ job }) => job);
    },
    async invoiceIds() {
      const rows = await database.query<{ id: string }>({
        name: 'stored_invoices',
        text: 'select id from public.invoices order by id',
      });
      return rows.map(({ id }) => id);
    },
    clear: () => database.execute('delete from holdfast.jobs; delete from public.invoices'),
  };
}
