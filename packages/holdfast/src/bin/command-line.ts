import { parseArgs } from 'node:util';

/** What the command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'migrate'; readonly isDryRun: boolean }
  | { readonly kind: 'refused'; readonly problem: string | undefined };

/** What the command says of itself. */
export const usage = `Usage: holdfast migrate [--dry-run]
       holdfast --version | --help

Brings the tables of Holdfast in the database up to date, or prints the SQL that would do it.

  DATABASE_URL     where the database is: postgres://user:password@host:5432/name
  HOLDFAST_SCHEMA  the schema of the tables, if it is not holdfast
`;

/** Reads the arguments behind the program's name. Never throws. */
export function readCommandLine(args: readonly string[]): Request {
  const parsed = parse(args);
  if (typeof parsed === 'string') return { kind: 'refused', problem: parsed };
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  if (values.version === true) return { kind: 'version' };
  const [command, surplus] = positionals;
  if (command === undefined) return { kind: 'refused', problem: undefined };
  if (command !== 'migrate') {
    return { kind: 'refused', problem: `unknown command "${command}"; there is: migrate` };
  }
  if (surplus !== undefined) {
    return { kind: 'refused', problem: `migrate takes no argument "${surplus}"` };
  }
  return { kind: 'migrate', isDryRun: values['dry-run'] === true };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    // A command that is unknown explains options that are.
    const command = args.find((arg) => !arg.startsWith('-'));
    if (command !== undefined && command !== 'migrate') {
      return `unknown command "${command}"; there is: migrate`;
    }
    // Its further sentences explain how to write positional arguments that begin with a dash.
    return error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error);
  }
}
