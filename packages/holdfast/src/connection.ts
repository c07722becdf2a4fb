import {
  createEnqueuer,
  createNotifier,
  createSettler,
  explainConnectionError,
  findProject,
  isTransientError,
  migrate,
  openDatabase,
  requireCurrentSchema,
} from '@holdfast/database';
import type {
  ConnectionSettings,
  Database,
  Enqueuer,
  MigrationReport,
  Notifier,
  Settler,
} from '@holdfast/database';
import { HoldfastError } from '@holdfast/domain';
import { retryTransient } from '@holdfast/runtime';
import type { RetryOptions } from '@holdfast/runtime';
import type { HoldfastLogger } from './logger.ts';

/** A connection that is in use. */
export interface OpenConnection {
  readonly database: Database;
  readonly notifier: Notifier;
  readonly enqueuer: Enqueuer;
  /** Does at once what follows from jobs that a call ended. */
  readonly settler: Settler;
  readonly projectId: string;
}

/** What a connection needs to know. */
export interface ConnectionParts {
  readonly settings: ConnectionSettings;
  /** The name of the project. */
  readonly project: string;
  readonly logger: HoldfastLogger;
}

/** How a call is tried again, by default ten times. */
export interface UseOptions extends Pick<RetryOptions, 'maxAttempts' | 'capMs'> {
  /** Ends the tries. */
  readonly signal?: AbortSignal | undefined;
  /** Told of each error that may go away by itself, instead of the logger. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

type Handles = Omit<OpenConnection, 'projectId'>;

/** The way to the database; nothing is sent before the first use. */
export class Connection {
  readonly #parts: ConnectionParts;
  #handles: Handles | undefined;
  #projectId: Promise<string> | undefined;
  #closing: Promise<void> | undefined;
  #state: 'open' | 'closing' | 'closed' = 'open';
  /** Those that hold on to the connection, and how each of them lets go. */
  readonly #users = new Set<() => Promise<void>>();
  /** Calls of several parts that are under way. */
  #wholeCalls = 0;
  readonly #calls = new Set<Promise<unknown>>();
  #keepAlive: NodeJS.Timeout | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
  }

  /** The schema of Holdfast's tables. */
  get schema(): string {
    return this.#parts.settings.schema ?? 'holdfast';
  }

  get logger(): HoldfastLogger {
    return this.#parts.logger;
  }

  /** Creates or updates the tables. @throws HoldfastError `closed`, `database_refused`, `database_unavailable` */
  migrate(): Promise<MigrationReport> {
    return this.whole(async () => {
      const report = await migrate(this.#parts.settings).catch(rethrowExplained);
      for (const warning of report.warnings) this.logger.warn({ schema: this.schema }, warning);
      return report;
    });
  }

  /**
   * Uses the connection. Errors of the call come as they are, since they may be those of the caller's transaction.
   *
   * @throws HoldfastError `closed` after `close`, `schema_outdated` before `migrate`, `project_not_found`,
   * `database_refused`, `database_unavailable`
   */
  use<Result>(call: (open: OpenConnection) => Promise<Result>): Promise<Result> {
    return this.#track(async () => call(await this.open().catch(rethrowExplained)));
  }

  /** As `use`, for calls that are not repeated and have nothing to do with a transaction of the caller. */
  useOnce<Result>(call: (open: OpenConnection) => Promise<Result>): Promise<Result> {
    return this.use(call).catch(rethrowExplained);
  }

  /**
   * Uses the connection, again and again while the error is one that may go away by itself. The call is told whether an
   * earlier try may have done its work. An aborted signal ends the tries, though not a call that is under way.
   *
   * @throws HoldfastError as `use`; `database_unavailable` when the tries are used up, and the last one may have done its
   * work all the same
   */
  useWithRetry<Result>(
    call: (open: OpenConnection, mayRepeat: boolean) => Promise<Result>,
    { signal, onTrouble, ...limits }: UseOptions = {},
  ): Promise<Result> {
    let tries = 0;
    const once = async (): Promise<Result> => {
      signal?.throwIfAborted();
      const open = await this.open();
      tries += 1;
      return call(open, tries > 1);
    };
    return this.#track(() =>
      retryTransient(once, {
        ...limits,
        isTransient: isTransientError,
        ...(signal === undefined ? {} : { signal }),
        onRetry: ({ error, delayMs }) => {
          if (onTrouble !== undefined) onTrouble(error);
          else this.logger.warn({ err: error, delayMs }, 'database call failed, trying again');
        },
      }).catch(rethrowExplained),
    );
  }

  /**
   * Takes several uses for one call: `close` waits for the last of them, also when it comes between two.
   *
   * @throws HoldfastError `closed`
   */
  async whole<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#refuseWhenClosed();
    this.#wholeCalls += 1;
    return this.#track(() =>
      call().finally(() => {
        this.#wholeCalls -= 1;
      }),
    );
  }

  /**
   * Lets somebody who lives longer than a call, such as a worker, come to an end before the connections are closed.
   *
   * @returns a function that says that it has ended
   */
  beforeClose(end: () => Promise<void>): () => void {
    this.#users.add(end);
    return () => {
      this.#users.delete(end);
    };
  }

  /** What the connection is made of, for parts of the SDK that live longer than a call. */
  async open(): Promise<OpenConnection> {
    this.#refuseWhenClosed();
    const handles = (this.#handles ??= this.#connect());
    this.#projectId ??= this.#resolveProject(handles.database);
    return { ...handles, projectId: await this.#projectId };
  }

  /** Waits for users and for the calls that are under way, and closes every connection; safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #refuseWhenClosed(): void {
    // What is under way may need further connections to come to its end.
    if (this.#state === 'open' || (this.#state === 'closing' && this.#wholeCalls > 0)) return;
    throw new HoldfastError('This Holdfast is closed', { code: 'closed' });
  }

  #connect(): Handles {
    const { settings, logger } = this.#parts;
    const database = openDatabase({
      ...settings,
      letsProcessExit: true,
      onIdleError: (error) => {
        logger.warn({ err: error }, 'database connection lost');
      },
    });
    const notifier = createNotifier(database);
    const settler = createSettler(database, {
      notifier,
      onError: (error) => {
        logger.warn({ err: error }, 'what follows from ended jobs is left to the workers');
      },
      onRenamed: (callback) => {
        logger.warn(
          { ...callback },
          'the id of a callback was taken by another job, so the callback has a new one',
        );
      },
    });
    return { database, notifier, settler, enqueuer: createEnqueuer(database, notifier) };
  }

  async #resolveProject(database: Database): Promise<string> {
    try {
      await requireCurrentSchema(this.#parts.settings, this.#migrateRemedy());
      const project = await findProject(database, this.#parts.project);
      if (project !== undefined) return project.id;
      throw new HoldfastError(`There is no project "${this.#parts.project}"`, {
        code: 'project_not_found',
      });
    } catch (error) {
      // The next call looks again.
      this.#projectId = undefined;
      // What may go away by itself is left for those who try again.
      throw isTransientError(error) ? error : explainConnectionError(error);
    }
  }

  #migrateRemedy(): string {
    const setting = this.schema === 'holdfast' ? '' : `HOLDFAST_SCHEMA=${this.schema} `;
    return `run "${setting}npx holdfast migrate", or call holdfast.migrate()`;
  }

  async #close(): Promise<void> {
    // Handlers that run to their end make calls of their own.
    if (this.#users.size > 0) await Promise.allSettled([...this.#users].map((end) => end()));
    this.#state = 'closing';
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
    this.#state = 'closed';
    await this.#track(async () => {
      await this.#handles?.settler.idle();
      await this.#handles?.notifier.close();
      await this.#handles?.database.close();
    });
  }

  /** Idle connections do not keep the process alive; calls do, from the first to the last that is under way. */
  #track<Result>(call: () => Promise<Result>): Promise<Result> {
    this.#keepAlive ??= setInterval(() => undefined, 60_000);
    const running = call().finally(() => {
      this.#calls.delete(running);
      if (this.#calls.size > 0) return;
      clearInterval(this.#keepAlive);
      this.#keepAlive = undefined;
    });
    this.#calls.add(running);
    return running;
  }
}

function rethrowExplained(error: unknown): never {
  throw explainConnectionError(error);
}
