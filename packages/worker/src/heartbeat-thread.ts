import { parentPort, workerData } from 'node:worker_threads';
import { beatWorker, extendLeases, openDatabase, registerWorker } from '@holdfast/database';
import type { Lane, LeaseState, WorkerMode } from '@holdfast/database';
import type {
  FromHeartbeat,
  HeartbeatStart,
  HeldChange,
  ToHeartbeat,
  Vitals,
} from './heartbeat-messages.ts';
import { monotonicMs } from './monotonic.ts';

const maxUnreadChanges = 20;

/**
 * The heartbeat has a thread and a connection of its own: a handler that blocks the event loop does not lose its lease.
 */
class HeartbeatThread {
  readonly #start: HeartbeatStart;
  readonly #lane: Lane;
  readonly #held = new Map<string, string>();
  /** Not applied to `#held` yet: most jobs end before anybody asks. */
  #changes: HeldChange[] = [];
  #order = 0;
  #vitals: Vitals = { status: 'active', busySlots: 0, stuckSlots: 0, loopLagMs: 0 };
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> | undefined;
  /** Another beat is due as soon as the one under way has ended. */
  #isDue = false;
  #stopped = false;

  constructor(start: HeartbeatStart) {
    this.#start = start;
    this.#lane = openDatabase({ ...start.settings, poolSize: 1 }).openLane('lane');
  }

  handle(message: ToHeartbeat): void {
    switch (message.kind) {
      case 'held':
        this.#changes.push(message);
        if (this.#changes.length >= maxUnreadChanges) this.#readChanges();
        return;
      case 'vitals':
        this.#vitals = message.vitals;
        return;
      case 'beat_now':
        this.beat();
        return;
      case 'stop':
        void this.#stop();
    }
  }

  beat(): void {
    if (this.#stopped) return;
    // The beat under way takes longer than the time between two, or began before what is asked for now.
    this.#isDue = this.#beating !== undefined;
    if (this.#isDue) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.beat();
    }, this.#start.heartbeatMs);
    this.#beating = this.#beatOnce()
      .catch((error: unknown) => {
        send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
        this.#retrySoon();
      })
      .finally(() => {
        this.#beating = undefined;
        if (this.#isDue) this.beat();
      });
  }

  #retrySoon(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    // A failed beat is tried again well before the next one is due: the lease runs on.
    this.#timer = setTimeout(() => {
      this.beat();
    }, this.#start.heartbeatMs / 5);
  }

  #readChanges(): void {
    const changes = this.#changes;
    this.#changes = [];
    for (const { dropped, claimed } of changes) {
      for (const id of dropped.split(',')) this.#held.delete(id);
      if (claimed === undefined) continue;
      for (const id of claimed.ids.split(',')) this.#held.set(id, claimed.token);
      this.#order = claimed.order;
    }
  }

  async #beatOnce(): Promise<void> {
    const sentAtMs = monotonicMs();
    this.#readChanges();
    const order = this.#order;
    const { projectId, leaseMs } = this.#start.identity;
    const leases = [...this.#held].map(([id, token]) => ({ id, token }));
    const [states, requested] = await Promise.all([
      extendLeases(this.#lane, { projectId, leases, leaseMs }),
      this.#beatWorker(),
    ]);
    const idsOf = (pick: (state: LeaseState) => boolean): readonly string[] =>
      states.filter(pick).map((state) => state.id);
    const lost = idsOf((state) => state.lost);
    for (const id of lost) this.#held.delete(id);
    send({
      kind: 'beat',
      sentAtMs,
      order,
      lost,
      notExtended: idsOf((state) => !state.extended && !state.lost),
      cancelRequested: idsOf((state) => state.cancelRequested),
      requested,
    });
  }

  async #beatWorker(): Promise<WorkerMode | undefined> {
    const { projectId, id } = this.#start.identity;
    const rssBytes = process.memoryUsage.rss();
    const beat = { projectId, id, rssBytes, ...this.#vitals };
    const answer = await beatWorker(this.#lane, beat);
    if (!answer.known) await registerWorker(this.#lane, this.#start.identity);
    return answer.requested;
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
    await this.#lane.close().catch(() => undefined);
    send({ kind: 'stopped' });
    parentPort?.close();
  }
}

function send(message: FromHeartbeat): void {
  parentPort?.postMessage(message);
}

// The engine starts this thread with exactly this shape.
const thread = new HeartbeatThread(workerData as HeartbeatStart);
parentPort?.on('message', (message: ToHeartbeat) => {
  thread.handle(message);
});
thread.beat();
