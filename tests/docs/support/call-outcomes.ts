import { expect } from 'vitest';
import type { CallResult } from './call-runner.ts';

type Outcome = Partial<CallResult>;

/** The job that an enqueue made. */
const enqueued = (job: object): Outcome => ({ value: { deduplicated: false, job } });

/** The job after an attempt whose handler is the call. */
const ran = (job: object): Outcome => ({ value: { status: 'completed', ...job } });

/** A worker that ran a job. */
const works: Outcome = { value: { status: 'completed', result: { to: 'ada@example.com' } } };

/** An enqueue whose key is taken when it is made again. */
const taken = (again: object = {}): Outcome => ({
  value: { deduplicated: false },
  again: { deduplicated: true, ...again },
});

const nothing: Outcome = {};

/** What each call in the tables of the guides has to come to, by its text. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  // Enqueue
  'holdfast.enqueue(sendMail, ada)': enqueued({
    status: 'queued',
    queue: 'mail',
    payload: { to: 'ada@example.com' },
    priority: 5,
    maxAttempts: 5,
    timeoutMs: 300_000,
  }),
  "holdfast.enqueue('mail.send', ada)": enqueued({ status: 'queued', queue: 'default' }),
  'holdfast.enqueueMany(sendMail, [ada, bob])': {
    value: { ids: [expect.any(String), expect.any(String)] },
  },
  'holdfast.enqueue(sendMail, ada, { tx: client })': enqueued({ status: 'queued' }),
  'holdfast.enqueue(sendMail, ada, { runAt: tomorrow })': enqueued({ status: 'scheduled' }),
  "holdfast.enqueue(sendMail, ada, { delay: '10m' })": enqueued({ status: 'scheduled' }),
  'holdfast.enqueue(sendMail, ada, { priority: 0 })': enqueued({ priority: 0 }),
  'holdfast.enqueue(sendMail, ada, { maxAttempts: 10 })': enqueued({ maxAttempts: 10 }),
  "holdfast.enqueue(sendMail, ada, { backoff: { kind: 'exponential', base: '2.7s', factor: 2.7, max: '6h', jitter: 'none' } })":
    enqueued({
      retry: {
        mode: 'automatic',
        backoff: {
          kind: 'exponential',
          baseMs: 2_700,
          factor: 2.7,
          maxMs: 21_600_000,
          jitter: 'none',
        },
      },
    }),
  "holdfast.enqueue(sendMail, ada, { timeout: '2h' })": enqueued({ timeoutMs: 7_200_000 }),

  // Unique keys
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada' } })": taken(),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', until: 'start', onConflict: 'replace' } })":
    taken(),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', onConflict: 'debounce', wait: '30s', maxWait: '5m' } })":
    taken({ status: 'scheduled' }),

  // Workers
  'createWorker({ holdfast, jobs: [sendMail], concurrency: 5 })': works,
  "createWorker({ holdfast, jobs: [sendMail], queues: ['mail'] })": works,
  'worker.run()': nothing,
  "worker.stop({ timeout: '10s' })": nothing,

  // Handlers
  'ctx.attempt': ran({ result: 1 }),
  "ctx.log.info('rendered', { pages: 3 })": ran({}),
  'ctx.signal.throwIfAborted()': ran({}),
  'ctx.enqueue(sendMail, bob)': ran({ result: { status: 'queued' } }),
  "ctx.transaction((tx) => tx.query('select 1'))": ran({ result: { rowCount: 1 } }),
  "ctx.progress(40, 'rendered')": ran({ progress: { percent: 40, note: 'rendered' } }),
  "ctx.step('charge', () => ({ charged: 100 }))": ran({ result: { charged: 100 } }),
  "throw new Error('no answer')": ran({ status: 'scheduled', attempt: 1 }),
  "throw new NonRetryableError('no such address')": ran({ status: 'dead_letter' }),
  "return ctx.release('1m', 'rate limited')": ran({ status: 'scheduled', attempt: 0 }),

  // Schedules
  "holdfast.schedules.upsert({ name: 'daily', cron: '0 4 * * *', job: sendMail.with(ada) })": {
    value: { timing: { timezone: 'UTC' }, catchUp: 'latest', overlap: 'skip' },
  },
  "holdfast.schedules.upsert({ name: 'daily', cron: '0 4 * * *', timezone: 'Europe/Berlin', job: sendMail.with(ada) })":
    { value: { timing: { cron: '0 4 * * *', timezone: 'Europe/Berlin' } } },
  "holdfast.schedules.upsert({ name: 'daily', cron: '0 4 * * *', catchUp: 'all', catchUpWindow: '1d', job: sendMail.with(ada) })":
    { value: { catchUp: 'all', catchUpWindowMs: 86_400_000 } },
  "holdfast.schedules.upsert({ name: 'daily', every: '1h', overlap: 'allow', job: sendMail.with(ada) })":
    { value: { timing: { everyMs: 3_600_000 }, overlap: 'allow' } },
  "holdfast.schedules.delete('daily')": { value: true },

  // Jobs and queues
  'holdfast.get(job.id)': { value: { status: 'queued', payload: { to: 'ada@example.com' } } },
  "holdfast.wait(job.id, { timeout: '1m' })": works,
  "holdfast.cancel(job.id, { reason: 'ordered by mistake' })": { after: { job: 'cancelled' } },
  'holdfast.runNow(later.id)': { after: { later: 'queued' } },
  'holdfast.replay(deadLetter.id)': { after: { deadLetter: 'queued' } },
  "holdfast.queues.upsert('mail', { concurrency: 1 })": { value: { concurrency: 1 } },
  "holdfast.queues.pause('mail', { reason: 'maintenance' })": nothing,
  "holdfast.queues.resume('mail')": nothing,

  // Events and tables
  "holdfast.on('JobProcessed', ({ jobId }) => console.log(jobId))": { ...works, logged: 1 },
  'holdfast.migrate()': { value: { applied: [] } },
  'npx holdfast migrate': { value: expect.stringContaining('up to date') },
};
