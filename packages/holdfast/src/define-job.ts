import { requireOptions } from './check-options.ts';
import type { JobContext } from './job-context.ts';
import type {
  JobDefaults,
  JobDefinition,
  JobRequest,
  PayloadAndOptions,
  TransactionOfRun,
  WorkerJob,
} from './job-definition.ts';
import type { JobOptions } from './job-options.ts';
import type { PayloadUpgrade, PayloadUpgrades } from './payload-versions.ts';
import { readJobDefaults } from './read-job-defaults.ts';
import type { InputOfSchema, OutputOfSchema, StandardSchema } from './standard-schema.ts';

/** The type of the handler itself, beside that of what it takes and gives: it tells what the handler wants of `ctx`. */
interface RunOf<Run> {
  readonly run?: Run;
}

/**
 * Defines a job type whose payload a schema describes: it is checked at enqueue, and again before each run.
 *
 * Without `run` the definition may be imported by producers without the handler's code; the worker gives it its handler
 * by `createWorker(...).handle(job, run)`.
 *
 * When the shape of the payload changes, count `version` up and say by `upgrades` how older payloads that still wait become
 * new ones: workers of this definition take those versions as well, and workers of the one before never take the new one.
 *
 * @throws OptionsInvalidError that lists every unknown or wrong option
 * @since 0.1.0
 */
export function defineJob<
  const Type extends string,
  Schema extends StandardSchema,
  Result,
  Run,
  const Version extends number = 1,
>(
  options: JobDefaults &
    RunOf<Run> & {
      /** 1 to 128 of the characters A-Z a-z 0-9 . _ : - */
      readonly type: Type;
      /** A schema of any Standard Schema library, such as Zod, Valibot or ArkType. */
      readonly payload: Schema;
      /** Of the payload's shape, 1 to 32 767; default 1. */
      readonly version?: Version | undefined;
      /** How payloads of older versions become newer ones, by the version that each begins with; without a gap. */
      readonly upgrades?: PayloadUpgrades<Version, InputOfSchema<Schema>> | undefined;
      /** The handler. */
      run?(payload: OutputOfSchema<Schema>, ctx: JobContext): Result | Promise<Result>;
    },
): JobDefinition<
  Type,
  InputOfSchema<Schema>,
  OutputOfSchema<Schema>,
  Result,
  TransactionOfRun<Run>
>;

/** Defines a job type whose payload has the type that its handler says; nothing checks it at run time. */
export function defineJob<
  const Type extends string,
  Payload,
  Result,
  Run,
  const Version extends number = 1,
>(
  options: JobDefaults &
    RunOf<Run> & {
      readonly type: Type;
      readonly payload?: undefined;
      readonly version?: Version | undefined;
      readonly upgrades?: PayloadUpgrades<Version, NoInfer<Payload>> | undefined;
      run?(payload: Payload, ctx: JobContext): Result | Promise<Result>;
    },
): JobDefinition<Type, Payload, Payload, Result, TransactionOfRun<Run>>;

/** Defines a job type whose payload and result have the given types; its handler is given by `handle`. */
export function defineJob<Payload, Result = unknown, const Version extends number = number>(
  options: JobDefaults & {
    readonly type: string;
    readonly payload?: undefined;
    readonly version?: Version | undefined;
    readonly upgrades?: PayloadUpgrades<Version, NoInfer<Payload>> | undefined;
    readonly run?: never;
  },
): JobDefinition<string, Payload, Payload, Result, unknown>;

/** Defines a job type whose payload and result have the given types; nothing checks them at run time. */
export function defineJob<Payload, Result = unknown, const Version extends number = number>(
  options: JobDefaults & {
    readonly type: string;
    readonly payload?: undefined;
    readonly version?: Version | undefined;
    readonly upgrades?: PayloadUpgrades<Version, NoInfer<Payload>> | undefined;
    run?(payload: Payload, ctx: JobContext): Result | Promise<Result>;
  },
): JobDefinition<string, Payload, Payload, Result>;

export function defineJob(options: DefineJobOptions): WorkerJob<unknown> {
  const defaults = readJobDefaults(options);
  const { type, payload: schema, version = 1, upgrades = {} } = options;
  const run = options.run?.bind(options);
  return new Definition({ type, schema, version, upgrades, defaults, run });
}

interface DefineJobOptions extends JobDefaults {
  readonly type: string;
  readonly payload?: StandardSchema | undefined;
  readonly version?: number | undefined;
  readonly upgrades?: Readonly<Record<number, PayloadUpgrade>> | undefined;
  run?(payload: unknown, ctx: JobContext): unknown;
}

class Definition implements JobDefinition {
  readonly type: string;
  readonly schema: StandardSchema | undefined;
  readonly version: number;
  readonly upgrades: Readonly<Record<number, PayloadUpgrade>>;
  readonly defaults: JobDefaults;
  readonly run?: (payload: unknown, ctx: JobContext) => unknown;

  constructor(parts: {
    readonly type: string;
    readonly schema: StandardSchema | undefined;
    readonly version: number;
    readonly upgrades: Readonly<Record<number, PayloadUpgrade>>;
    readonly defaults: JobDefaults;
    readonly run: ((payload: unknown, ctx: JobContext) => unknown) | undefined;
  }) {
    this.type = parts.type;
    this.schema = parts.schema;
    this.version = parts.version;
    this.upgrades = Object.freeze({ ...parts.upgrades });
    this.defaults = parts.defaults;
    if (parts.run !== undefined) this.run = parts.run;
  }

  with(...[payload, options = {}]: PayloadAndOptions<unknown, JobOptions>): JobRequest {
    requireOptions(`with("${this.type}")`, options);
    return { job: this, payload, options };
  }
}
