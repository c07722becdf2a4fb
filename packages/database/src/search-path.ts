import type { Database } from './database.ts';
import type { Statement } from './generated/statements.ts';

const readSearchPath: Statement = {
  name: 'read_search_path',
  text: 'select current_schema() as schema_name, current_user as user_name',
};

/**
 * What is wrong when the tables that a program makes without naming a schema would come to lie among Holdfast's: the
 * default search path begins with a schema that is named as the role. `undefined` when they would not.
 */
export async function searchPathWarning(database: Database): Promise<string | undefined> {
  const [row] = await database.query<{
    readonly schema_name: string | null;
    readonly user_name: string;
  }>(readSearchPath);
  if (row?.schema_name !== database.schema) return undefined;
  const { schema } = database;
  const { user_name: user } = row;
  const cause = user === schema ? 'has the name of the schema' : 'has it first in its search_path';
  return (
    `tables that the role "${user}" creates without naming a schema go into Holdfast's schema "${schema}", since it ` +
    `${cause}: connect your application as another role, or alter role "${user}" set search_path = public`
  );
}
