import type { z } from 'zod';
import { ApiError } from './api-error.ts';
import { routes } from './routes.ts';
import type { Route } from './route.ts';
import type { RouteName, Routes } from './routes.ts';
import { readServerSentEvents } from './server-sent-events.ts';
import type { ServerSentEvent } from './server-sent-events.ts';

/** What a client needs: where the API is, and who speaks. */
export interface ApiClientOptions {
  /** Such as `http://127.0.0.1:3000`; empty for the page's own origin. */
  readonly baseUrl: string;
  readonly fetch?: typeof globalThis.fetch;
  /** The access token or API key to send, asked for before every request. */
  readonly getAccessToken?: () => string | undefined | Promise<string | undefined>;
}

/** What any call may add. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Of a stream: the id of the last event that was read. */
  readonly lastEventId?: string;
  readonly idempotencyKey?: string;
  readonly ifMatch?: string;
}

// Whether everything in an object may be left out is asked by giving none of it.
// eslint-disable-next-line @typescript-eslint/no-generated-empty-object-type -- exactly that is meant
type Nothing = Record<never, never>;

type Part<K extends string, S> = S extends z.ZodType
  ? Nothing extends z.input<S>
    ? { readonly [P in K]?: z.input<S> }
    : { readonly [P in K]: z.input<S> }
  : unknown;

type Field<R, K extends string> = R extends { readonly [P in K]: infer S } ? S : undefined;

/** What a call of a route is given: `params`, `query` and `body` as far as the route has them. */
export type CallInput<N extends RouteName> = Part<'params', Field<Routes[N], 'params'>> &
  Part<'query', Field<Routes[N], 'query'>> &
  Part<'body', Field<Routes[N], 'body'>> &
  CallOptions;

/** What a call of a route answers; a stream ends when one stops reading it. */
export type CallResult<N extends RouteName> = Routes[N] extends {
  readonly responseType: 'text/event-stream';
}
  ? AsyncIterable<ServerSentEvent>
  : Routes[N]['response'] extends z.ZodType
    ? z.output<Routes[N]['response']>
    : undefined;

/** An answer with what came in its headers. */
export interface ApiAnswer<T> {
  readonly status: number;
  readonly body: T;
  readonly etag: string | undefined;
  /** True when the answer repeats the one of an earlier request with the same idempotency key. */
  readonly replayed: boolean;
}

type Call<N extends RouteName> =
  Nothing extends CallInput<N>
    ? (input?: CallInput<N>) => Promise<CallResult<N>>
    : (input: CallInput<N>) => Promise<CallResult<N>>;

/** A method per operation of the API; each throws {@link ApiError} for an error answer. */
export type ApiClient = { readonly [N in RouteName]: Call<N> } & {
  /** Any operation, with the status and headers of its answer. */
  readonly send: <N extends RouteName>(
    name: N,
    input: CallInput<N>,
  ) => Promise<ApiAnswer<CallResult<N>>>;
};

interface AnyInput extends CallOptions {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

/** Makes a client from the table of routes. */
export function createApiClient(options: ApiClientOptions): ApiClient {
  const send = (name: RouteName, input: AnyInput = {}) => sendRequest(options, routes[name], input);
  const calls = Object.fromEntries(
    Object.keys(routes).map((name) => [
      name,
      // The keys of the table are exactly the names of the routes.
      async (input?: AnyInput) => (await send(name as RouteName, input)).body,
    ]),
  );
  // The table that types the methods is the one that they are made from.
  return { ...calls, send } as unknown as ApiClient;
}

async function sendRequest(
  options: ApiClientOptions,
  route: Route,
  input: AnyInput,
): Promise<ApiAnswer<unknown>> {
  const fetch = options.fetch ?? globalThis.fetch;
  const token = await options.getAccessToken?.();
  const response = await fetch(options.baseUrl + targetOf(route, input), {
    method: route.method.toUpperCase(),
    headers: headersOf(route, input, token),
    credentials: 'same-origin',
    ...(route.body === undefined ? {} : { body: JSON.stringify(input.body ?? {}) }),
    ...(input.signal === undefined ? {} : { signal: input.signal }),
  });
  if (!response.ok) throw await ApiError.from(response);
  return {
    status: response.status,
    body: await readBody(route, response),
    etag: response.headers.get('etag') ?? undefined,
    replayed: response.headers.get('idempotent-replayed') === 'true',
  };
}

async function readBody(route: Route, response: Response): Promise<unknown> {
  if (route.response === undefined) return undefined;
  if (route.responseType === 'text/event-stream')
    return readServerSentEvents(response.body ?? empty());
  return route.responseType === undefined ? await response.json() : await response.text();
}

function empty(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.close() });
}

function targetOf(route: Route, input: AnyInput): string {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(input.params?.[name] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) query.append(name, String(one));
    }
  }
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

function headersOf(
  route: Route,
  input: AnyInput,
  token: string | undefined,
): Record<string, string> {
  return {
    accept: `${route.responseType ?? 'application/json'}, application/problem+json`,
    ...(route.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(input.idempotencyKey === undefined ? {} : { 'idempotency-key': input.idempotencyKey }),
    ...(input.lastEventId === undefined ? {} : { 'last-event-id': input.lastEventId }),
    ...(input.ifMatch === undefined ? {} : { 'if-match': input.ifMatch }),
  };
}
