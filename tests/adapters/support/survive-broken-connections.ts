import type { Pool } from 'pg';

/** Without a listener, a connection that breaks while a library holds it ends the process, as the guide says. */
export function surviveBrokenConnections(pool: Pool): void {
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  pool.on('error', () => undefined);
}
