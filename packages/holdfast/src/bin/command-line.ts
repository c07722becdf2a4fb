import { parseArgs } from 'node:util';

/** What is to be checked. */
export interface ContractsRequest {
  readonly modules: readonly string[];
  /** Payloads to read of each version of a type; `undefined`: all. */
  readonly limit: number | undefined;
  readonly isStrict: boolean;
  readonly isJson: boolean;
}

/** What the command line asks for. */
export type Request =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'migrate'; readonly isDryRun: boolean }
  | ({ readonly kind: 'contracts' } & ContractsRequest)
  | { readonly kind: 'refused'; readonly problem: string | undefined };

/** What the command says of itself. */
export const usage = `Usage: holdfast migrate [--dry-run]
       holdfast contracts check [--limit <n>] [--strict] [--json] <module>...
       holdfast --version | --help

migrate brings the tables of Holdfast in the database up to date, or prints the SQL that would do it.

contracts check holds the job definitions that the modules of a build export against the payloads
that wait in the database, and exits with 1 when the build does not take all of them. Upgrades run.

  --limit <n>      read at most so many payloads of each version of a type
  --strict         also types that no module defines, and versions whose schema has changed, count
  --json           the report as JSON

  DATABASE_URL      where the database is: postgres://user:password@host:5432/name
  HOLDFAST_SCHEMA   the schema of the tables, if it is not holdfast
  HOLDFAST_PROJECT  the project whose payloads are checked, if it is not default
`;

const flagsOf = {
  migrate: ['dry-run'],
  contracts: ['limit', 'strict', 'json'],
} as const;
const commands = 'migrate, contracts check';

/** Reads the arguments behind the program's name. Never throws. */
export function readCommandLine(args: readonly string[]): Request {
  const parsed = parse(args);
  if (typeof parsed === 'string') return { kind: 'refused', problem: parsed };
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  if (values.version === true) return { kind: 'version' };
  const [command, ...rest] = positionals;
  if (command === undefined) return { kind: 'refused', problem: undefined };
  if (!isCommand(command)) return { kind: 'refused', problem: unknownCommand(command) };
  const known: readonly string[] = flagsOf[command];
  const odd = Object.keys(values).find((name) => !known.includes(name));
  if (odd !== undefined) {
    return { kind: 'refused', problem: `${command} takes no option --${odd}` };
  }
  return command === 'migrate' ? readMigrate(values, rest) : readContracts(values, rest);
}

type Values = Exclude<ReturnType<typeof parse>, string>['values'];

function readMigrate(values: Values, [surplus]: readonly string[]): Request {
  if (surplus !== undefined) {
    return { kind: 'refused', problem: `migrate takes no argument "${surplus}"` };
  }
  return { kind: 'migrate', isDryRun: values['dry-run'] === true };
}

function readContracts(values: Values, [verb, ...modules]: readonly string[]): Request {
  if (verb !== 'check')
    return { kind: 'refused', problem: unknownCommand(`contracts ${verb ?? ''}`) };
  if (modules.length === 0) {
    return { kind: 'refused', problem: 'contracts check needs a module that exports definitions' };
  }
  const { limit } = values;
  if (limit !== undefined && !/^[1-9]\d{0,8}$/.test(limit)) {
    return { kind: 'refused', problem: `--limit must be a whole number above 0, not "${limit}"` };
  }
  return {
    ...{ kind: 'contracts', modules },
    limit: limit === undefined ? undefined : Number(limit),
    ...{ isStrict: values.strict === true, isJson: values.json === true },
  };
}

function isCommand(command: string): command is keyof typeof flagsOf {
  return Object.hasOwn(flagsOf, command);
}

function unknownCommand(command: string): string {
  return `unknown command "${command.trim()}"; there is: ${commands}`;
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        'dry-run': { type: 'boolean' },
        limit: { type: 'string' },
        strict: { type: 'boolean' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
      },
    });
  } catch (error) {
    // A command that is unknown explains options that are.
    const command = args.find((arg) => !arg.startsWith('-'));
    if (command !== undefined && !isCommand(command)) return unknownCommand(command);
    // Its further sentences explain how to write positional arguments that begin with a dash.
    return error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error);
  }
}
