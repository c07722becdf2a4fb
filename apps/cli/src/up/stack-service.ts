import { existsSync, readFileSync } from 'node:fs';
import { hasNoUsers } from '@holdfast/database';
import { HoldfastError } from '@holdfast/domain';
import { systemClock } from '@holdfast/runtime';
import { choosePort } from './choose-port.ts';
import { ensureSecretFile } from './data-directory.ts';
import { createManagedProcess } from './managed-process.ts';
import { demoTargetPort, planProcesses } from './process-plan.ts';
import type { Environment, Service } from '@holdfast/runtime';
import type { DataDirectory } from './data-directory.ts';
import type { DatabaseService } from './database-service.ts';
import type { ManagedProcess } from './managed-process.ts';
import type { ProcessPlan } from './process-plan.ts';
import type { StackFiles } from './stack.ts';
import type { Steps } from './steps.ts';
import type { UpConfig } from './up-config.ts';

/** Everything but the database: API with dashboard, schedulers, the demo's web service, workers. */
export interface StackService extends Service {
  readonly baseUrl: string;
  readonly targetUrl: string;
  /** The owner's password, if it was made at this start. */
  readonly newPassword: string | undefined;
}

/** What the stack is made from. */
export interface StackOptions {
  readonly config: UpConfig;
  readonly files: StackFiles;
  readonly dataDirectory: DataDirectory;
  readonly database: DatabaseService;
  readonly steps: Steps;
}

const schedulerCount = 2;
const stopTimeoutMs = 20_000;
const readyTimeoutMs = 20_000;

/** Starts the processes once the database is up; they stop in this order: workers, schedulers, API. */
export function createStackService(options: StackOptions): StackService {
  return new ProcessStack(options);
}

class ProcessStack implements StackService {
  readonly name = 'processes';
  readonly #options: StackOptions;
  readonly #groups: { readonly title: string; readonly processes: ManagedProcess[] }[] = [];
  #port = 0;
  #targetPort = 0;
  #newPassword: string | undefined;

  constructor(options: StackOptions) {
    this.#options = options;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  get targetUrl(): string {
    return `http://127.0.0.1:${String(this.#targetPort)}`;
  }

  get newPassword(): string | undefined {
    return this.#newPassword;
  }

  async start(): Promise<void> {
    try {
      await this.#startAll();
    } catch (error) {
      // Whoever starts services stops only those that have started, and our processes would keep this one alive.
      await this.stop();
      throw error;
    }
  }

  async #startAll(): Promise<void> {
    const { config, files, dataDirectory, database, steps } = this.#options;
    await this.#ensureSecrets();
    await this.#choosePorts();
    process.once('exit', this.#killAll);
    const plan = planProcesses({
      ...{ config, files, dataDirectory },
      databaseUrl: database.url,
      port: this.#port,
      targetPort: this.#targetPort,
    });
    await steps.run('API and dashboard', async () => {
      await this.#startGroup('API', [this.#process('api', { script: files.api, env: plan.api })]);
      await untilReady(this.baseUrl);
      return this.baseUrl;
    });
    await steps.run('schedulers, workers', async () => {
      await this.#startSchedulers(plan);
      if (config.hasDemo) await this.#startTarget(plan);
      const workers = await this.#startWorkers(plan);
      const pids = workers.map(({ pid }) => String(pid)).join(', ');
      const word = workers.length === 1 ? 'worker' : 'workers';
      return `${String(schedulerCount)} schedulers, ${String(workers.length)} ${word} (pid ${pids})`;
    });
  }

  async stop(): Promise<void> {
    for (const { title, processes } of [...this.#groups].reverse()) {
      if (processes.length === 0) continue;
      await this.#options.steps.run(title, async () => {
        await Promise.all(processes.map((process) => process.stop()));
        return 'stopped';
      });
    }
    this.#groups.length = 0;
    process.off('exit', this.#killAll);
  }

  async #ensureSecrets(): Promise<void> {
    const { config, dataDirectory, database } = this.#options;
    if (!config.hasSecret) ensureSecretFile(dataDirectory.secretPath, 48);
    // A database that has users has an owner too, whose password is not ours to make.
    if (config.adminPassword !== undefined || !(await hasNoUsers(database.database))) return;
    const made = ensureSecretFile(dataDirectory.passwordPath, 15) === 'made';
    if (made) this.#newPassword = readFileSync(dataDirectory.passwordPath, 'utf8').trim();
  }

  async #choosePorts(): Promise<void> {
    const { config, steps } = this.#options;
    this.#port = await choosePort(config.port);
    this.#targetPort = await choosePort(demoTargetPort, { except: this.#port });
    if (config.port !== 0 && this.#port !== config.port) {
      steps.warn(`port ${String(config.port)} is taken: using ${String(this.#port)}`);
    }
  }

  async #startSchedulers({ scheduler: env }: ProcessPlan): Promise<void> {
    const { files } = this.#options;
    const schedulers = numbered('scheduler', schedulerCount).map((name) =>
      this.#process(name, { script: files.scheduler, env }),
    );
    await this.#startGroup('schedulers', schedulers);
  }

  async #startTarget({ target: env }: ProcessPlan): Promise<void> {
    const { demoTarget: script } = this.#options.files;
    if (!existsSync(script)) {
      throw new HoldfastError('The demo has not been built: run "npm run build"', {
        code: 'process_start_failed',
      });
    }
    await this.#startGroup('demo target', [this.#process('demo target', { script, env })]);
  }

  async #startWorkers({ worker: env }: ProcessPlan): Promise<readonly ManagedProcess[]> {
    const { config, files } = this.#options;
    const workers = numbered('worker', config.workerCount).map((name) =>
      this.#process(name, {
        script: files.worker,
        env,
        stopTimeoutMs: config.drainTimeoutMs + stopTimeoutMs,
      }),
    );
    await this.#startGroup('workers', workers);
    return workers;
  }

  async #startGroup(title: string, processes: ManagedProcess[]): Promise<void> {
    // Noted before they have started, so that they are stopped when one of them fails to.
    this.#groups.push({ title, processes });
    await Promise.all(processes.map((process) => process.start()));
  }

  #process(
    name: string,
    options: {
      readonly script: string;
      readonly env: Environment;
      readonly stopTimeoutMs?: number;
    },
  ): ManagedProcess {
    const { config, dataDirectory, steps } = this.#options;
    return createManagedProcess({
      ...{ name, dataDirectory, stopTimeoutMs },
      ...options,
      isVerbose: config.isVerbose,
      onEvent: steps.warn,
    });
  }

  readonly #killAll = (): void => {
    for (const { processes } of this.#groups) {
      processes.forEach((process) => {
        process.kill();
      });
    }
  };
}

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${String(index + 1)}`);
}

async function untilReady(baseUrl: string): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + readyTimeoutMs;
  for (;;) {
    const response = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok === true) return;
    if (systemClock.monotonicMs() >= deadlineMs) {
      const status = response === undefined ? 'no answer' : `status ${String(response.status)}`;
      throw new HoldfastError(`The API does not become ready: ${status}`, {
        code: 'process_start_failed',
      });
    }
    await systemClock.sleep(50);
  }
}
