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

/** From the worker's main thread to its heartbeat thread. */
export type ToHeartbeat =
  | {
      readonly kind: 'hold';
      readonly order: number;
      readonly token: string;
      readonly ids: readonly string[];
    }
  | { readonly kind: 'drop'; readonly ids: readonly string[] }
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
