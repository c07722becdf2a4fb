import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger, Service } from '@holdfast/runtime';
import type { Express } from 'express';

// Whoever sends a request slowly holds a connection only for so long.
const headersTimeoutMs = 15_000;
const requestTimeoutMs = 30_000;
const keepAliveTimeoutMs = 65_000;
const mostHeaders = 100;
const sweepEveryMs = 100;

/** A server that is listening once it was started. */
export interface HttpServer extends Service {
  /** The address in use; the port differs from the configured one when that was 0. */
  readonly url: string;
}

/** Where a server listens. */
export interface HttpServerOptions {
  readonly app: Express;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
}

/** Creates the server; `start` rejects when the port is taken. `stop` waits for the answers in hand. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const server = createServer(options.app);
  server.headersTimeout = headersTimeoutMs;
  server.requestTimeout = requestTimeoutMs;
  server.keepAliveTimeout = keepAliveTimeoutMs;
  server.maxHeadersCount = mostHeaders;
  const url = (): string => urlOf(server, options.host);
  return {
    name: 'http',
    get url() {
      return url();
    },
    async start() {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options.port, options.host, resolve);
      });
      options.logger.info({ url: url() }, 'listening');
    },
    async stop() {
      if (!server.listening) return;
      // A connection that was busy at first stays open when its answer is written, until somebody closes it.
      const sweep = setInterval(() => {
        server.closeIdleConnections();
      }, sweepEveryMs);
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      clearInterval(sweep);
    },
  };
}

function urlOf(server: Server, host: string): string {
  // A server on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${String(port)}`;
}
