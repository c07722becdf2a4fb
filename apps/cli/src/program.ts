import { Command, CommanderError, Option } from 'commander';
import type { Environment } from '@holdfast/runtime';
import type { UpFlags } from './up/up-config.ts';

/** What a command runs with, and where it leaves its exit code. */
interface Invocation {
  readonly env: Environment;
  exitCode: number;
}

const usageExitCode = 2;

/**
 * Runs the command of a command line and gives its exit code. Each command's code is loaded when it is needed, so
 * that `--help` is quick.
 */
export async function runCommand(argv: readonly string[], env: Environment): Promise<number> {
  const invocation: Invocation = { env, exitCode: 0 };
  try {
    await createProgram(invocation).parseAsync(argv);
    return invocation.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode;
    const { reportError } = await import('./report-error.ts');
    return reportError(error);
  }
}

function createProgram(invocation: Invocation): Command {
  const program = new Command('holdfast')
    .description('Durable background jobs on PostgreSQL')
    .showHelpAfterError()
    .exitOverride();
  addUp(program, invocation);
  addMigrate(program, invocation);
  addDoctor(program, invocation);
  addJobs(program, invocation);
  addQueues(program, invocation);
  return program;
}

function addUp(program: Command, invocation: Invocation): void {
  program
    .command('up')
    .description('Run everything on this machine: PostgreSQL, API, dashboard, workers, schedulers')
    .addOption(new Option('--port <port>', 'port of API and dashboard (PORT, default 3000)'))
    .addOption(
      new Option('--data-dir <path>', 'where data lives (HOLDFAST_DATA_DIR, default .holdfast)'),
    )
    .addOption(new Option('--workers <n>', 'worker processes (HOLDFAST_WORKERS, default 1)'))
    .option('--no-demo', 'start without the example jobs')
    .option('--once', 'run the example jobs, check how each ended, and exit with 0 or 1')
    .option('--verbose', "show the processes' logs here instead of in <data dir>/logs")
    .action(async (flags: UpFlags) => {
      const { runUp } = await import('./commands/up.ts');
      invocation.exitCode = await runUp(flags, invocation.env);
    });
}

function addMigrate(program: Command, invocation: Invocation): void {
  program
    .command('migrate')
    .description('Bring the schema of the database at DATABASE_URL up to date')
    .option('--dry-run', 'print the SQL instead of running it')
    .action(async (flags: { readonly dryRun?: boolean }) => {
      const { runMigrate } = await import('./commands/migrate.ts');
      invocation.exitCode = await runMigrate({ isDryRun: flags.dryRun === true }, invocation.env);
    });
}

function addDoctor(program: Command, invocation: Invocation): void {
  program
    .command('doctor')
    .description('Check the database at DATABASE_URL: version, durability, schema, partitions')
    .option('--json', 'print the findings as JSON')
    .action(async (flags: { readonly json?: boolean }) => {
      const { runDoctor } = await import('./commands/doctor.ts');
      invocation.exitCode = await runDoctor({ asJson: flags.json === true }, invocation.env);
    });
}

function addJobs(program: Command, invocation: Invocation): void {
  const jobs = program
    .command('jobs')
    .alias('job')
    .description('Look at jobs and act on them, over the API at HOLDFAST_URL');
  const run = async (verb: JobVerb, argument: string, flags: JobFlags): Promise<void> => {
    const { runJobs } = await import('./commands/jobs.ts');
    invocation.exitCode = await runJobs({ verb, argument, ...flags }, invocation.env);
  };
  jobs
    .command('list')
    .description('newest first')
    .option('--queue <name>')
    .option('--status <status...>')
    .option('--type <type>')
    .option('--limit <n>')
    .action((flags: JobFlags) => run('list', '', flags));
  jobs
    .command('enqueue <type>')
    .option('--payload <json>', 'a JSON value, or - to read it from standard input')
    .option('--queue <name>')
    .option('--payload-version <n>', 'which version of its shape the payload has; default 1')
    .option('--delay <duration>', 'such as 30s or 5m')
    .action((type: string, flags: JobFlags) => run('enqueue', type, flags));
  for (const verb of ['get', 'cancel', 'replay'] as const) {
    jobs.command(`${verb} <id>`).action((id: string) => run(verb, id, {}));
  }
}

/** What can be done with jobs. */
export type JobVerb = 'list' | 'get' | 'enqueue' | 'cancel' | 'replay';

/** Options of the commands about jobs, as typed. */
export interface JobFlags {
  readonly queue?: string;
  readonly status?: readonly string[];
  readonly type?: string;
  readonly limit?: string;
  readonly payload?: string;
  readonly payloadVersion?: string;
  readonly delay?: string;
}

function addQueues(program: Command, invocation: Invocation): void {
  const queues = program
    .command('queues')
    .alias('queue')
    .description('Look at queues, pause and resume them, over the API at HOLDFAST_URL');
  const run = async (verb: QueueVerb, name: string, reason: string): Promise<void> => {
    const { runQueues } = await import('./commands/queues.ts');
    invocation.exitCode = await runQueues({ verb, name, reason }, invocation.env);
  };
  queues.command('list').action(() => run('list', '', ''));
  queues
    .command('pause <name>')
    .requiredOption('--reason <text>', 'why, for the people who wonder')
    .action((name: string, flags: { readonly reason: string }) => run('pause', name, flags.reason));
  queues.command('resume <name>').action((name: string) => run('resume', name, ''));
}

/** What can be done with queues. */
export type QueueVerb = 'list' | 'pause' | 'resume';
