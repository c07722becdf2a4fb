import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { systemClock } from './clock.ts';
import type { Metrics } from './metrics.ts';
import type { Service } from './service.ts';

/** One question of a health probe. */
export interface HealthCheck {
  readonly name: string;
  /** Resolves to what is wrong, or to `undefined` when all is well; a rejection counts as wrong. */
  readonly check: () => Promise<string | undefined> | string | undefined;
}

/** A check that something answers at all, such as the database, within a second. */
export function answerCheck(name: string, ask: () => Promise<unknown>): HealthCheck {
  return {
    name,
    check: async () => {
      const timer = new AbortController();
      try {
        return await Promise.race([
          ask().then(() => undefined),
          systemClock.sleep(answerWithinMs, timer.signal).then(() => 'no answer within 1 s'),
        ]);
      } finally {
        timer.abort();
      }
    },
  };
}

const answerWithinMs = 1_000;

/** What the probe server answers from. */
export interface ProbeServerOptions {
  readonly port: number;
  /** Address to listen on; default all, since probes come from outside of the container. */
  readonly host?: string;
  /** `/livez`: fails only when this process must be restarted; never asks the database. */
  readonly live: readonly HealthCheck[];
  /** `/readyz`: fails while this process cannot do its work. */
  readonly ready: readonly HealthCheck[];
  readonly metrics: Metrics;
}

/** `/livez`, `/readyz`, `/healthz` and `/metrics` for a process that has no API of its own. */
export interface ProbeServer extends Service {
  /** From now on `/readyz` answers 503. */
  markDraining(): void;
  /** The port in use once started; differs from the one asked for when that was 0. */
  readonly port: number | undefined;
}

/** Creates the probe server; `start` rejects when the port is taken. */
export function createProbeServer(options: ProbeServerOptions): ProbeServer {
  return new HttpProbeServer(options);
}

class HttpProbeServer implements ProbeServer {
  readonly name = 'probe-server';
  readonly #options: ProbeServerOptions;
  #server: Server | undefined;
  #isDraining = false;

  constructor(options: ProbeServerOptions) {
    this.#options = options;
  }

  get port(): number | undefined {
    const address = this.#server?.address();
    return typeof address === 'object' && address !== null ? address.port : undefined;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      void this.#answer(request, response);
    });
    server.headersTimeout = 5_000;
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#options.port, this.#options.host, resolve);
    });
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server?.listening !== true) return;
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    server.closeAllConnections();
    await closed;
  }

  markDraining(): void {
    this.#isDraining = true;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://probe');
    const isVerbose = url.searchParams.has('verbose');
    switch (url.pathname) {
      case '/livez':
        answerChecks(response, await runChecks(this.#options.live), isVerbose);
        return;
      case '/readyz':
      case '/healthz':
        answerChecks(response, await this.#readiness(), isVerbose);
        return;
      case '/metrics':
        response.setHeader('content-type', this.#options.metrics.contentType);
        response.end(await this.#options.metrics.render());
        return;
      default:
        response.statusCode = 404;
        response.end('not found\n');
    }
  }

  async #readiness(): Promise<readonly CheckResult[]> {
    const draining = { name: 'draining', problem: this.#isDraining ? 'draining' : undefined };
    return [draining, ...(await runChecks(this.#options.ready))];
  }
}

interface CheckResult {
  readonly name: string;
  readonly problem: string | undefined;
}

async function runChecks(checks: readonly HealthCheck[]): Promise<readonly CheckResult[]> {
  return Promise.all(
    checks.map(async ({ name, check }) => {
      try {
        return { name, problem: await check() };
      } catch (error) {
        return { name, problem: error instanceof Error ? error.message : 'failed' };
      }
    }),
  );
}

function answerChecks(
  response: ServerResponse,
  results: readonly CheckResult[],
  isVerbose: boolean,
): void {
  const isHealthy = results.every(({ problem }) => problem === undefined);
  const lines = results.map(({ name, problem }) =>
    problem === undefined ? `[+]${name} ok` : `[-]${name} ${problem}`,
  );
  response.statusCode = isHealthy ? 200 : 503;
  response.setHeader('content-type', 'text/plain; charset=utf-8');
  response.setHeader('cache-control', 'no-store');
  const summary = isHealthy ? 'ok' : 'not ok';
  response.end(`${(isVerbose || !isHealthy ? [...lines, summary] : [summary]).join('\n')}\n`);
}
