import pg from 'pg';

type OnConnected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * A client for a pool. The driver leaves the socket open when a connection fails on its own side, for want of a password
 * for instance, and the pool forgets such a client: the process could not end, and the server would keep the half of a
 * session for a minute.
 *
 * An error of a connection that nobody uses at the moment does not end the process: the next statement fails. A pool listens
 * for such errors of the connections that it keeps, but not in the moment in which it hands one out.
 */
export class ClosingClient extends pg.Client {
  constructor(config?: ConstructorParameters<typeof pg.Client>[0]) {
    super(config);
    this.on('error', () => undefined);
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: OnConnected): void;
  override connect(callback?: OnConnected): Promise<pg.Client> | undefined {
    const connecting = super.connect().catch((error: unknown) => {
      this.end().catch(() => undefined);
      throw error;
    });
    if (callback === undefined) return connecting;
    // The pool's callback takes either.
    const settle = callback as (error: unknown, client?: pg.Client) => void;
    connecting.then((client) => {
      settle(null, client);
    }, settle);
    return undefined;
  }
}
