import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createApp } from './app.ts';
import { config } from './config.ts';
import { createTables, holdfast, pool } from './database.ts';

await createTables();

const server = createApp().listen(config.port, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
console.log(`The shop is at http://127.0.0.1:${String(port)}; Ctrl-C stops it.`);

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
server.close();
server.closeIdleConnections();
await once(server, 'close');
await holdfast.close();
await pool.end();
console.log('Stopped.');
