import { createApiClient } from '@holdfast/contract';
import type { ApiClient } from '@holdfast/contract';
import { createSilentLogger } from '@holdfast/runtime';
import { createJobFactory, createTestDatabase } from '@holdfast/testing';
import type { JobFactory, TestDatabase } from '@holdfast/testing';
import { createApi } from '../../../apps/api/src/api.ts';
import type { ApiOptions } from '../../../apps/api/src/api.ts';
import type { ApiConfig } from '../../../apps/api/src/config.ts';

/** The first owner of every API under test. */
export const owner = { email: 'owner@example.com', password: 'correct horse battery' } as const;

/** The secret of every API under test. */
export const secret = 'a secret for tests that is long enough';

/** An API on a port of its own with a database of its own. */
export interface TestApi {
  readonly url: string;
  readonly port: number;
  readonly db: TestDatabase;
  readonly factory: JobFactory;
  /** Speaks as the owner. */
  readonly client: ApiClient;
  readonly ownerToken: string;
  /** Sends a request; `body` is sent as JSON unless it is text or bytes. */
  send(method: string, path: string, options?: SendOptions): Promise<Sent>;
  /** As `send`, for a path within the project `default`. */
  inProject(method: string, path: string, options?: SendOptions): Promise<Sent>;
  markDraining(): void;
  stop(): Promise<void>;
}

/** What a request has besides method and path. */
export interface SendOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the owner's access token; `null` sends none. */
  readonly token?: string | null;
}

/** An answer with its body read as JSON, when it is JSON. */
export interface Sent {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Answered;
}

/** JSON that a test looks into; what it finds there is what it checks. */
export interface Answered {
  readonly [key: string]: unknown;
  readonly accessToken?: string;
  readonly code?: string;
  readonly data?: readonly Readonly<Record<string, unknown>>[];
  readonly detail?: string;
  readonly errors?: readonly { readonly pointer: string; readonly detail: string }[];
  readonly id?: string;
  readonly requestId?: string;
  readonly user?: { readonly email: string; readonly passwordChangeRequired: boolean };
}

/** Starts an API in this process. */
export async function startTestApi(
  overrides: Partial<ApiConfig> = {},
  more: Pick<ApiOptions, 'eventHeartbeatMs'> = {},
): Promise<TestApi> {
  const db = await createTestDatabase();
  const config: ApiConfig = {
    databaseUrl: db.url,
    schema: 'holdfast',
    poolSize: 5,
    isPooled: false,
    port: 0,
    host: '127.0.0.1',
    secrets: [secret],
    owner,
    webRoot: undefined,
    trustedProxies: 0,
    requestsPerMinute: 0,
    metricsToken: undefined,
    logLevel: 'silent',
    logFormat: 'json',
    ...overrides,
  };
  const logger = createSilentLogger();
  const api = await createApi({ config, database: db.database, logger, ...more });
  for (const service of api.services) await service.start();
  const { url } = api.server;
  const anonymous = createApiClient({ baseUrl: url });
  const { accessToken } = await anonymous.login({ body: owner });
  const send = sender(url, accessToken);
  return {
    url,
    port: Number(new URL(url).port),
    db,
    factory: await createJobFactory(db.database),
    client: createApiClient({ baseUrl: url, getAccessToken: () => accessToken }),
    ownerToken: accessToken,
    send,
    inProject: (method, path, options) => send(method, `/api/v1/projects/default${path}`, options),
    markDraining: api.markDraining,
    async stop() {
      for (const service of [...api.services].reverse()) await service.stop();
      await db.drop();
    },
  };
}

function sender(url: string, ownerToken: string): TestApi['send'] {
  return async (method, path, { body, headers = {}, token = ownerToken } = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isRaw ? (body as BodyInit) : JSON.stringify(body) }),
    });
    const type = response.headers.get('content-type') ?? '';
    const text = type.includes('event-stream') ? await leave(response) : await response.text();
    const isJson = type.includes('json');
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: (isJson ? JSON.parse(text) : {}) as Answered,
    };
  };
}

/** A stream does not end by itself. */
async function leave(response: Response): Promise<string> {
  await response.body?.cancel();
  return '';
}
