/** What an application's own worker is: `createWorker` with its definitions, at the defaults. */
import { createWorker, defineJob, Holdfast } from 'holdfast';
import { handlers } from './noop-handlers.mjs';

const jobs = Object.entries(handlers).map(([type, run]) => defineJob({ type, run }));
const quiet = { debug() {}, info() {}, warn: console.warn, error: console.error };
const holdfast = new Holdfast({ connectionString: process.env.DATABASE_URL, logger: quiet });
await createWorker({ holdfast, jobs, maintenance: false }).run();
await holdfast.close();
