import type { TransactionAdapter } from 'holdfast';

/** A row of the user's own, which has to share the fate of the jobs. */
export interface Invoice {
  readonly id: string;
  readonly note: string | undefined;
}

/** A library as an application has it: connected, and used in its own way. `Tx` is its own type. */
export interface Library<Tx> {
  readonly adapter: TransactionAdapter<Tx>;
  /** Another one, whose transactions are serializable. */
  readonly serializable: TransactionAdapter<Tx>;
  /** Opens a transaction without Holdfast. */
  transaction<Result>(run: (tx: Tx) => Promise<Result>): Promise<Result>;
  insertInvoice(tx: Tx, invoice: Invoice): Promise<void>;
  /** Runs one statement of the user's, with no parameters. */
  execute(tx: Tx, statement: string): Promise<void>;
  /** What somebody may give as `tx` by mistake, by name. */
  readonly mistakes: Readonly<Record<string, unknown>>;
}

/** Work with a library, whichever it is. */
export type LibraryWork<Result> = <Tx>(library: Library<Tx>) => Promise<Result>;

/** One row of the table of libraries. */
export interface LibraryCase {
  readonly name: string;
  /** Connects, does the work and disconnects. */
  use<Result>(connectionString: string, work: LibraryWork<Result>): Promise<Result>;
}

/** The user's table. */
export const createInvoices = 'create table public.invoices (id text primary key, note text)';
