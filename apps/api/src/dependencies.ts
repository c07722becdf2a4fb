import type { Database, Enqueuer, Notifier, Settler } from '@holdfast/database';
import type { Clock, Logger, Metrics } from '@holdfast/runtime';
import type { AccessTokens } from './auth/access-tokens.ts';
import type { DerivedKeys } from './auth/derived-keys.ts';
import type { KeyUses } from './auth/key-uses.ts';
import type { Passwords } from './auth/passwords.ts';
import type { ApiConfig } from './config.ts';
import type { EventWatch } from './event-watch.ts';
import type { Cursors } from './http/cursors.ts';
import type { DatabaseWatch } from './http/database-watch.ts';

/** What the routes work with. */
export interface Dependencies {
  readonly config: ApiConfig;
  readonly database: Database;
  readonly enqueuer: Enqueuer;
  readonly notifier: Notifier;
  /** Does at once what follows from jobs that a request ended. */
  readonly settler: Settler;
  readonly watch: DatabaseWatch;
  readonly eventWatch: EventWatch;
  /** So often something is sent on a stream of events, also when nothing happens: proxies end what is silent. */
  readonly eventHeartbeatMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly keys: DerivedKeys;
  readonly tokens: AccessTokens;
  readonly keyUses: KeyUses;
  readonly passwords: Passwords;
  readonly cursors: Cursors;
  readonly startedAt: Date;
  /** Whether the process has been asked to stop. */
  readonly isDraining: () => boolean;
}
