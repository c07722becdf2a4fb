import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { TlsOptions } from 'node:tls';
import { onTestFinished } from 'vitest';

/** A listener on a loopback address that counts who came. It closes when the test ends. */
export interface LoopbackServer {
  readonly port: number;
  /** Connections so far. */
  connectionCount(): number;
  /** Resolves when every connection so far has been closed. */
  allClosed(): Promise<void>;
}

/** Serves what a handler of raw sockets says: for targets that do not speak proper HTTP. */
export async function serveSockets(
  onSocket: (socket: Socket) => void,
  options: { readonly host?: string; readonly port?: number } = {},
): Promise<LoopbackServer> {
  return listen(createServer(onSocket), options);
}

/** Serves proper HTTP. */
export async function serveHttp(
  onRequest: RequestListener,
  options: { readonly host?: string; readonly port?: number } = {},
): Promise<LoopbackServer> {
  return listen(createHttpServer(onRequest), options);
}

/** Serves one fixed HTTP answer over TLS. */
export async function serveTls(
  options: TlsOptions,
  answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
): Promise<LoopbackServer> {
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.end(answer);
    });
  });
  server.on('tlsClientError', () => undefined);
  return listen(server, {});
}

/** A listener that nobody may reach. */
export interface Canary {
  readonly port: number;
  /** How many connections came from others; connects once itself, so that everyone who was earlier has been counted. */
  strangers(): Promise<number>;
}

/** Listens on 127.0.0.1, and on the same port of [::1] where there is one. */
export async function openCanary(): Promise<Canary> {
  const { v4, v6 } = await listenOnBoth();
  return {
    port: v4.port,
    async strangers() {
      await visit('127.0.0.1', v4.port);
      if (v6 === undefined) return v4.connectionCount() - 1;
      await visit('::1', v4.port);
      return v4.connectionCount() + v6.connectionCount() - 2;
    },
  };
}

/** Whether this machine lets us listen on a second loopback address (Linux does). */
export async function hasLoopbackAddress(host: string): Promise<boolean> {
  const server = createServer();
  server.listen(0, host);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  return true;
}

async function listenOnBoth() {
  const destroy = (socket: Socket) => socket.destroy();
  const hasV6 = await hasLoopbackAddress('::1');
  for (;;) {
    const v4 = await serveSockets(destroy, { host: '127.0.0.1' });
    if (!hasV6) return { v4, v6: undefined };
    try {
      return { v4, v6: await serveSockets(destroy, { host: '::1', port: v4.port }) };
    } catch (error) {
      // Somebody else has this port of the other address; the next one will be another.
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
    }
  }
}

async function visit(host: string, port: number): Promise<void> {
  const socket = connect(port, host);
  socket.on('error', () => undefined);
  socket.resume();
  await new Promise((resolve) => socket.once('close', resolve));
}

async function listen(
  server: Server,
  options: { readonly host?: string; readonly port?: number },
): Promise<LoopbackServer> {
  const open = new Set<Socket>();
  const closings: Promise<unknown>[] = [];
  let count = 0;
  server.on('connection', (socket: Socket) => {
    count += 1;
    open.add(socket);
    socket.on('error', () => undefined);
    closings.push(
      new Promise<void>((resolve) => {
        socket.once('close', () => {
          open.delete(socket);
          resolve();
        });
      }),
    );
  });
  server.listen(options.port ?? 0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    connectionCount: () => count,
    async allClosed() {
      await Promise.all(closings);
    },
  };
}
