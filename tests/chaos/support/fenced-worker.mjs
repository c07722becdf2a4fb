/**
 * A worker whose handler writes two rows in `context.transaction`, and which sends itself a signal at the boundary
 * between two statements that the job names, once for each job: by default SIGKILL, as a power cut would.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProject, openDatabase } from '@holdfast/database';
import { createSilentLogger } from '@holdfast/runtime';
import { createWorkerEngine } from '@holdfast/worker';
import pg from 'pg';

const { DATABASE_URL: connectionString, KILLS: killsFolder } = process.env;
const { SIGNAL: signal = 'SIGKILL' } = process.env;
const current = new AsyncLocalStorage();

/** The job's own boundary may be reached: the process ends or freezes here. */
function reach(boundary) {
  const job = current.getStore();
  if (job?.boundary !== boundary) return;
  try {
    const report = JSON.stringify({ boundary, executionSeq: job.executionSeq });
    writeFileSync(join(killsFolder, job.id), report, { flag: 'wx' });
  } catch {
    return;
  }
  process.kill(process.pid, signal);
}

/** Runs a statement and reaches the boundaries at its sending and behind its answer. */
async function passing(name, send) {
  const answer = send();
  reach(`${name} sent`);
  const result = await answer;
  reach(`${name} answered`);
  return result;
}

// A worker that is frozen behind its job's end keeps the job's row locked for as long.
const options = '-c idle_in_transaction_session_timeout=2000';
const pool = new pg.Pool({ connectionString, options, max: 4 });
pool.on('error', () => undefined);

const transactions = {
  async transaction(run) {
    reach('before begin');
    const client = await pool.connect();
    try {
      await passing('begin', () => client.query('begin'));
      const result = await run(client);
      await passing('commit', () => client.query('commit'));
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  },
  toQueryable: (client) => ({
    async query(text, values) {
      const name = text.includes('delete from') ? 'finish' : 'check';
      return (await passing(name, () => client.query(text, values))).rows;
    },
  }),
};

async function effect({ boundary }, context) {
  const insert = 'insert into effects (job_id, part, execution_seq) values ($1, $2, $3)';
  const { id, executionSeq } = context.job;
  return current.run({ id, executionSeq, boundary }, async () => {
    const result = await context.transaction(async (tx) => {
      await passing('first', () => tx.query(insert, [id, 1, executionSeq]));
      await passing('second', () => tx.query(insert, [id, 2, executionSeq]));
      return executionSeq;
    });
    reach('acknowledged');
    return result;
  });
}

const database = openDatabase({ connectionString, poolSize: 1 });
const project = await findProject(database, 'default');
const engine = createWorkerEngine({
  database,
  projectId: project.id,
  handlers: { effect },
  transactions,
  concurrency: 3,
  maxPrefetch: 3,
  leaseMs: 1_500,
  heartbeatMs: 300,
  pollIntervalMs: 50,
  notifications: false,
  logger: createSilentLogger(),
});
await engine.start();
process.once('SIGTERM', () => void engine.stop().then(() => process.exit(0)));
