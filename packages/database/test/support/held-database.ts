import type { Database, Queryable, Statement } from '@holdfast/database';
import type { HandConnection } from './hand-connection.ts';

/** The database through a session by hand: transactions are begun, and left open when their work is done. */
export function heldDatabase(database: Database, session: HandConnection): Database {
  return {
    ...borrowed(database),
    query: session.query.bind(session),
    async transaction(work) {
      await session.run('begin');
      return work(session);
    },
  };
}

/** The database, with something that happens right before a statement runs for the first time. */
export function beforeStatement(
  database: Database,
  statement: Statement,
  happens: () => Promise<void>,
): Database {
  let hasHappened = false;
  const query: Queryable['query'] = async (asked, values) => {
    if (asked === statement && !hasHappened) {
      hasHappened = true;
      await happens();
    }
    return database.query(asked, values);
  };
  return { ...borrowed(database), query };
}

function borrowed(database: Database): Database {
  return {
    settings: database.settings,
    schema: database.schema,
    query: database.query.bind(database),
    transaction: database.transaction.bind(database),
    execute: database.execute.bind(database),
    openLane: database.openLane.bind(database),
    close: () => Promise.resolve(),
  };
}
