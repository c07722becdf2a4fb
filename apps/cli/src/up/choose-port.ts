import { createServer } from 'node:net';

/**
 * The wanted port when it is free on 127.0.0.1, else one of the next twenty, else any free one.
 * Somebody may take it before it is used; the process that listens on it will say so.
 *
 * @param options.except a port that was chosen for something else, which does not listen on it yet
 */
export async function choosePort(
  wantedPort: number,
  { except }: { readonly except?: number } = {},
): Promise<number> {
  for (let offset = 0; offset <= 20 && wantedPort + offset <= 65_535; offset += 1) {
    if (wantedPort + offset === except) continue;
    const port = await tryPort(wantedPort + offset);
    if (port !== undefined) return port;
  }
  return (await tryPort(0)) ?? wantedPort;
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(undefined);
    });
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      const chosen = typeof address === 'object' && address !== null ? address.port : undefined;
      server.close(() => {
        resolve(chosen);
      });
    });
  });
}
