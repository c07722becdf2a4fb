import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** Stands between a client and a PostgreSQL server, and can lose an answer. */
export interface CuttingProxy {
  /** The server's URL with the proxy in its place. */
  readonly url: string;
  /** How many answers were lost so far. */
  readonly cutCount: number;
  /**
   * Cuts the connection on which the text is sent next: after the server has done what was asked and is idle again, and
   * before the client hears of it.
   */
  loseAnswerTo(text: string): void;
  /** Ends the connections that are made next, so many, by the very answer that lets the client in. */
  endWhenMade(count: number): void;
  /** From now on nothing goes through, and connections stay open: a cable that was pulled. */
  fallSilent(): void;
  /** Nothing goes through the connections that are open now; new ones are as usual: the server has a successor. */
  strandConnections(): void;
  /** From now on connections are ended as they come, and those that are open too; resolves when so many have come. */
  turnAway(count: number): Promise<void>;
  /** Connections are let through again. */
  letIn(): void;
  /** Nobody listens any more. */
  close(): Promise<void>;
  /** Listens again after a close, under the same URL. */
  reopen(): Promise<void>;
}

/** ReadyForQuery outside of a transaction, the last message of an answer. */
const idleAgain = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** What a server says when it ends a session. */
const endOfSession = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '57P01',
  M: 'terminating connection due to administrator command',
});

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const texts = Object.entries(fields).map(([name, text]) => `${name}${text}\0`);
  const body = Buffer.from(`${texts.join('')}\0`);
  const head = Buffer.from([0x45, 0, 0, 0, 0]);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Starts a proxy on a free port. */
export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const connections = new Set<{ isStranded: boolean }>();
  let wanted: string | undefined;
  let cutCount = 0;
  let isSilent = false;
  let endCount = 0;
  let onTurnedAway: (() => void) | undefined;
  const server = createServer((client) => {
    if (onTurnedAway !== undefined) {
      client.on('error', () => undefined).destroy();
      onTurnedAway();
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    let isLosing = false;
    const connection = { isMade: false, isStranded: false };
    connections.add(connection);
    const isMute = (): boolean => isSilent || connection.isStranded;
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (chunk) => {
      if (isMute()) return;
      if (wanted !== undefined && chunk.includes(wanted)) {
        wanted = undefined;
        isLosing = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (isMute()) return;
      if (!connection.isMade && chunk.subarray(-idleAgain.length).equals(idleAgain)) {
        connection.isMade = true;
        if (endCount > 0) {
          endCount -= 1;
          client.end(Buffer.concat([chunk, endOfSession]));
          return;
        }
      }
      if (!isLosing) {
        client.write(chunk);
      } else if (chunk.subarray(-idleAgain.length).equals(idleAgain)) {
        cutCount += 1;
        end();
      }
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
  });
  const listen = (at: number): Promise<void> =>
    new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const proxied = new URL(url);
  proxied.hostname = '127.0.0.1';
  proxied.port = String(port);
  return {
    url: proxied.href,
    get cutCount() {
      return cutCount;
    },
    loseAnswerTo(text) {
      wanted = text;
    },
    endWhenMade(count) {
      endCount = count;
    },
    fallSilent() {
      isSilent = true;
    },
    strandConnections() {
      for (const connection of connections) connection.isStranded = true;
    },
    async turnAway(count) {
      await new Promise<void>((resolve) => {
        let left = count;
        onTurnedAway = () => {
          left -= 1;
          if (left === 0) resolve();
        };
        for (const socket of sockets) socket.destroy();
      });
    },
    letIn() {
      onTurnedAway = undefined;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
    reopen: () => listen(port),
  };
}
