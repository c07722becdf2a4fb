import { Holdfast } from 'holdfast';
import type { Library, LibraryCase } from './library.ts';

/** An application with one of the libraries and Holdfast on one database. */
export interface Application<Tx> extends Library<Tx> {
  readonly holdfast: Holdfast<Tx>;
}

/** Work in an application, whichever library it has. */
export type ApplicationWork<Result> = <Tx>(application: Application<Tx>) => Promise<Result>;

/** Starts the application, does the work in it, and ends it. */
export function useApplication<Result>(
  { use }: LibraryCase,
  connectionString: string,
  work: ApplicationWork<Result>,
): Promise<Result> {
  return use(connectionString, async (library) => {
    const holdfast = new Holdfast({ connectionString, adapter: library.adapter });
    try {
      return await work({ ...library, holdfast });
    } finally {
      await holdfast.close();
    }
  });
}
