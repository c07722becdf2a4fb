import pg from 'pg';

type OnConnected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * A client for a pool. The driver leaves the socket open when a connection fails on its own side, for want of a password
 * for instance, and the pool forgets such a client: the process could not end, and the server would keep the half of a
 * session for a minute.
 */
export class ClosingClient extends pg.Client {
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
