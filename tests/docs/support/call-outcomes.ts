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

/** A batch, chain or graph whose jobs have all completed, and the callbacks that came. */
const allCompleted = (kind: string, made: readonly string[] = []): Outcome => ({
  value: { kind, status: 'completed', counts: { deadLetter: 0 }, made },
});

const anyId: unknown = expect.stringMatching(/^[-0-9a-f]{36}$/);
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
    value: { ids: [anyId, anyId] },
  },
  'holdfast.enqueue(sendMail, ada, { tx: client })': enqueued({ status: 'queued' }),
  'holdfast.enqueue(sendMail, ada, { runAt: tomorrow })': enqueued({ status: 'scheduled' }),
  "holdfast.enqueue(sendMail, ada, { delay: '10m' })": enqueued({ status: 'scheduled' }),
  'holdfast.enqueue(sendMail, ada, { priority: 0 })': enqueued({ priority: 0 }),
  'holdfast.enqueue(sendMail, ada, { maxAttempts: 10 })': enqueued({ maxAttempts: 10 }),
  "holdfast.enqueue(sendMail, ada, { backoff: { kind: 'exponential', base: '2.7s', factor: 2.7, max: '6h', jitter: 'none' } })":
    enqueued({
      retry: 'automatic',
      backoff: {
        kind: 'exponential',
        baseMs: 2_700,
        factor: 2.7,
        maxMs: 21_600_000,
        jitter: 'none',
      },
    }),
  "holdfast.enqueue(sendMail, ada, { timeout: '2h' })": enqueued({ timeoutMs: 7_200_000 }),
  "holdfast.enqueue(sendMail, ada, { timeout: '15m' })": enqueued({ timeoutMs: 900_000 }),
  "holdfast.enqueue(sendMail, ada, { timeout: '2m' })": enqueued({ timeoutMs: 120_000 }),
  "holdfast.enqueue(sendMail, ada, { startDeadline: '1h' })": enqueued({ status: 'queued' }),
  "holdfast.enqueue(sendMail, ada, { queue: 'bulk-mail' })": enqueued({ queue: 'bulk-mail' }),
  "holdfast.enqueue(sendMail, ada, { id: '01890a5d-ac96-774b-bcce-b302099a8057' })": enqueued({
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
  }),
  "holdfast.enqueue(sendMail, ada, { retry: 'manual' })": enqueued({ retry: 'manual' }),
  "holdfast.enqueue(sendMail, ada, { maxExceptions: 3, retryUntil: '1h' })": enqueued({
    maxExceptions: 3,
    retryUntil: expect.any(String) as unknown,
  }),
  "holdfast.enqueue(sendMail, ada, { backoff: '30s' })": enqueued({
    backoff: { kind: 'fixed', delayMs: 30_000 },
  }),
  "holdfast.enqueue(sendMail, ada, { backoff: ['10s', '1m', '5m'] })": enqueued({
    backoff: { kind: 'list', delaysMs: [10_000, 60_000, 300_000] },
  }),
  "holdfast.enqueue(sendMail, ada, { backoff: { kind: 'exponential', base: '30s', max: '10m' } })":
    enqueued({ backoff: { baseMs: 30_000, maxMs: 600_000, factor: 2, jitter: 'full' } }),
  "defineJob({ type: 'mail.retry', backoff: ({ attempt }) => attempt * 60_000, run: (_: { to: string }) => { throw new Error('no answer'); } })":
    { value: { status: 'scheduled', attempt: 1 } },
  "defineJob({ type: 'report.build', isolate: 'thread', module: import.meta.url, run: (_: { to: string }) => 'built' })":
    { value: { type: 'report.build', status: 'queued' } },
  "select holdfast.enqueue('default', 'mail', 'mail.send', '{\"to\":\"ada@example.com\"}', '{\"delay\":\"10m\"}')":
    { value: [{ enqueue: anyId }] },

  // Unique keys
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada' } })": taken(),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', until: 'start', onConflict: 'replace' } })":
    taken(),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', onConflict: 'debounce', wait: '30s', maxWait: '5m' } })":
    taken({ status: 'scheduled', conflict: 'debounced' }),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', until: 'start' } })": taken(),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', until: 'ttl', ttl: '1m' } })": taken(),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', onConflict: 'replace' } })": taken({
    conflict: 'replaced',
  }),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', onConflict: 'queue_latest' } })": taken({
    conflict: 'replaced',
  }),
  "holdfast.enqueue(sendMail, ada, { unique: { key: 'ada', onConflict: 'reject' } })": {
    value: { deduplicated: false },
    again: { code: 'unique_key_held' },
  },

  // Batches, chains and graphs
  'holdfast.batch([sendMail.with(ada), sendMail.with(bob)]).then(report.with({})).catch(report.with({})).enqueue()':
    allCompleted('batch', ['then']),
  'holdfast.batch([sendMail.with(ada), sendMail.with(bob)]).then(report.with({})).finally(report.with({})).enqueue()':
    allCompleted('batch', ['finally', 'then']),
  'holdfast.batch([sendMail.with(ada), sendMail.with(bob)]).progress(report.with({}), { every: 50 }).enqueue()':
    allCompleted('batch', ['progress']),
  "holdfast.batch([sendMail.with(ada)], { allowFailures: true, name: 'newsletter' }).then(report.with({})).enqueue()":
    { value: { name: 'newsletter', allowFailures: true, status: 'completed', made: ['then'] } },
  'holdfast.chain([sendMail.with(ada), sendMail.with(bob)]).enqueue()': allCompleted('chain'),
  'holdfast.chain([sendMail.with(ada), sendMail.with(bob)]).catch(report.with({})).enqueue()':
    allCompleted('chain'),
  'holdfast.graph((g) => { const first = g.add(sendMail.with(ada)); g.add(report.with({}), { after: first }); }).enqueue()':
    allCompleted('graph'),
  "holdfast.graph((g) => { const first = g.add(sendMail.with(ada)); g.add(report.with({}), { after: first, onParentFailure: 'run' }); }).enqueue()":
    allCompleted('graph'),
  'holdfast.batches.get(batch.id)': { value: { status: 'running', counts: { total: 2 } } },
  'holdfast.batches.cancel(batch.id)': { value: { cancelledCount: 2 } },
  'holdfast.batches.retryFailed(batch.id)': { value: { retriedCount: 0 } },

  // Workers
  'createWorker({ holdfast, jobs: [sendMail], concurrency: 5 })': works,
  "createWorker({ holdfast, jobs: [sendMail], queues: ['mail'] })": works,
  'createWorker({ holdfast, jobs: [sendMail], logger: console })': works,
  'worker.use(({ payload }, next) => next(payload))': works,
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
  // Its wait has jitter, so it may be on its way again.
  "throw new Error('no answer')": { value: { lastError: { message: 'no answer' } } },
  'return { sent: 1 }': ran({ result: { sent: 1 } }),
  'ctx.parents.resultOf(sendMail)': ran({ result: { to: 'ada@example.com' } }),
  'ctx.batch?.add(sendMail.with(bob))': ran({ result: { jobIds: [anyId] } }),
  "throw new NonRetryableError('no such address')": ran({ status: 'dead_letter' }),
  "return ctx.release('1m', 'rate limited')": ran({ status: 'scheduled', attempt: 0 }),

  // Schedules
  "holdfast.schedules.upsert({ name: 'daily', cron: '0 4 * * *', job: sendMail.with(ada) })": {
    value: { timezone: 'UTC', catchUp: 'latest', overlap: 'skip' },
  },
  "holdfast.schedules.upsert({ name: 'daily', cron: '0 4 * * *', timezone: 'Europe/Berlin', job: sendMail.with(ada) })":
    { value: { cron: '0 4 * * *', timezone: 'Europe/Berlin' } },
  "holdfast.schedules.upsert({ name: 'daily', cron: '0 4 * * *', catchUp: 'all', catchUpWindow: '1d', job: sendMail.with(ada) })":
    { value: { catchUp: 'all', catchUpWindowMs: 86_400_000 } },
  "holdfast.schedules.upsert({ name: 'daily', every: '1h', overlap: 'allow', job: sendMail.with(ada) })":
    { value: { everyMs: 3_600_000, overlap: 'allow' } },
  "holdfast.schedules.delete('daily')": { value: true },

  // Jobs and queues
  'holdfast.get(job.id)': { value: { status: 'queued', payload: { to: 'ada@example.com' } } },
  "holdfast.list({ queue: 'mail', status: 'queued' })": {
    value: { jobs: [{ queue: 'mail', status: 'queued' }] },
  },
  "holdfast.list({ status: 'dead_letter' })": { value: { jobs: [{ status: 'dead_letter' }] } },
  "holdfast.wait(job.id, { timeout: '1m' })": works,
  "holdfast.cancel(job.id, { reason: 'ordered by mistake' })": { after: { job: 'cancelled' } },
  'holdfast.runNow(later.id)': { after: { later: 'queued' } },
  'holdfast.get(deadLetter.id)': { value: { status: 'dead_letter' } },
  'holdfast.retry(failed.id)': { after: { failed: 'queued' } },
  'holdfast.replay(deadLetter.id)': { after: { deadLetter: 'queued' } },
  "holdfast.queues.upsert('mail', { concurrency: 1 })": { value: { concurrency: 1 } },
  "holdfast.queues.upsert('mail', { maxAttempts: 3, timeout: '1m' })": {
    value: { maxAttempts: 3, timeoutMs: 60_000 },
  },
  "holdfast.queues.get('mail')": { value: { counts: { queued: 1 } } },
  "holdfast.queues.pause('mail', { reason: 'maintenance' })": nothing,
  "holdfast.queues.resume('mail')": nothing,
  "holdfast.queues.purge('mail')": { value: { purged: 1 } },

  // Events and tables
  "holdfast.on('JobProcessed', ({ jobId }) => console.log(jobId))": { ...works, logged: 1 },
  "holdfast.subscribe('JobProcessed', report)": { value: { event: 'JobProcessed' } },
  "holdfast.subscribe('JobFailed', report)": { value: { event: 'JobFailed' } },
  "holdfast.subscribe('user.registered', welcome)": { value: { job: { type: 'user.welcome' } } },
  "holdfast.emit('user.registered', ada)": { value: { jobIds: [anyId] } },
  'holdfast.migrate()': { value: { applied: [] } },
  'npx holdfast migrate': { value: expect.stringContaining('up to date') },

  // Tests
  'jobs.holdfast.enqueue(sendMail, ada)': { value: { status: 'queued' } },
  "jobs.holdfast.enqueue(sendMail, ada, { delay: '2h' })": { value: { status: 'scheduled' } },
  "jobs.advance('2h')": nothing,
  'jobs.drain()': { value: { ran: [{ type: 'mail.send', status: 'completed' }] } },
  'jobs.expectEnqueued(sendMail, ada)': { value: [{ payload: { to: 'ada@example.com' } }] },
  'createFakeHoldfast().enqueue(sendMail, ada)': { value: { status: 'queued' } },
  'sendMail.run?.(ada, fakeContext({ attempt: 2 }))': { value: { to: 'ada@example.com' } },
};
