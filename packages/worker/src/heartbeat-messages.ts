import type { ConnectionSettings, WorkerIdentity, WorkerMode } from '@holdfast/database';

/** What the heartbeat thread is started with. */
export interface HeartbeatStart {
  readonly settings: ConnectionSettings;
  readonly identity: WorkerIdentity;
  readonly heartbeatMs: number;
}

/** How the worker is; sent before each beat. */
export interface Vitals {
  readonly status: WorkerMode;
  readonly busySlots: number;
  readonly stuckSlots: number;
  readonly loopLagMs: number;
}

/** Job ids joined by commas, or nothing: one text costs a fraction of a list to hand to another thread. */
export type JoinedIds = string;

/** What changed about the jobs that the worker holds: first some were dropped, then others came from one claim. */
export interface HeldChange {
  readonly kind: 'held';
  readonly dropped: JoinedIds;
  readonly claimed:
    { readonly order: number; readonly token: string; readonly ids: JoinedIds } | undefined;
}

/** From the worker's main thread to its heartbeat thread. */
export type ToHeartbeat =
  | HeldChange
  | { readonly kind: 'vitals'; readonly vitals: Vitals }
  | { readonly kind: 'beat_now' }
  | { readonly kind: 'stop' };

/** From the heartbeat thread to the main thread. */
export type FromHeartbeat =
  | {
      readonly kind: 'beat';
      /** Monotonic; from before the beat was sent. */
      readonly sentAtMs: number;
      /** Every job held by a message up to this one was named, save those listed. */
      readonly order: number;
      readonly lost: readonly string[];
      readonly notExtended: readonly string[];
      readonly cancelRequested: readonly string[];
      readonly requested: WorkerMode | undefined;
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' };
