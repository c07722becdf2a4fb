import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Name, routes } from '@holdfast/contract';
import type { Route, RouteName } from '@holdfast/contract';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { Dependencies } from '../dependencies.ts';
import { authorise } from './access.ts';
import { bodyRulesOf } from './body-rules.ts';
import type { Answer, Call, Handlers } from './call.ts';
import { parseBody } from './parse-body.ts';
import { HttpProblem } from './problem.ts';
import type { ProblemCode } from './problem-statuses.ts';
import { requestIdOf } from './request-id.ts';
import { requireSameOrigin } from './same-origin.ts';
import { readBodyWith, readQueryWith } from './validate.ts';

type AnyHandler = (call: Call<RouteName>) => Promise<Answer<unknown>>;

/** Puts a handler behind every route of the contract: first who may, then what was sent, then the work. */
export function registerRoutes(app: Express, deps: Dependencies, handlers: Handlers): void {
  for (const [name, route] of Object.entries(routes) as [RouteName, Route][]) {
    // The table types each handler with its own route; here they are all alike.
    const handler = handlers[name] as AnyHandler;
    app[route.method](expressPath(route.path), serve(deps, { name, route, handler }));
  }
  refuseOtherMethods(app);
}

interface Served {
  readonly name: RouteName;
  readonly route: Route;
  readonly handler: AnyHandler;
}

function serve(deps: Dependencies, served: Served): RequestHandler {
  const { name, route } = served;
  return async (request, response) => {
    response.locals['route'] = name;
    requireOrigin(request, route);
    await write(response, route, await handle(deps, served, { request, response }));
  };
}

async function handle(
  deps: Dependencies,
  { name, route, handler }: Served,
  { request, response }: { readonly request: Request; readonly response: Response },
): Promise<Answer<unknown>> {
  const { headers } = request;
  const granted = await deps.watch.guard(
    authorise(deps, route.access, { headers, project: projectOf(request) }),
  );
  const params = readParams(route, request);
  const query = route.query === undefined ? undefined : readQueryWith(route.query, request.query);
  const body = route.body === undefined ? undefined : await parseBody(request, bodyRulesOf(route));
  const requestId = requestIdOf(response);
  const call = {
    ...granted,
    params,
    query,
    body: route.body === undefined ? undefined : readBodyWith(route.body, body?.value),
    bodyBytes: body?.bytes ?? Buffer.alloc(0),
    request,
    response,
    requestId,
    logger: deps.logger.child({ requestId }),
  };
  // Read by the schemas of the route that the handler is typed with.
  const work = handler(call as unknown as Call<RouteName>);
  // Waiting is what the caller asks for there; each look at the database is guarded by itself.
  return name === 'getJob' ? work : deps.watch.guard(work);
}

function requireOrigin(request: Request, route: Route): void {
  const setsCookie = route.access.kind === 'public' && route.method === 'post';
  if (route.access.kind === 'session_cookie') requireSameOrigin(request, { isProofNeeded: true });
  else if (setsCookie) requireSameOrigin(request, { isProofNeeded: false });
}

function projectOf(request: Request): string | undefined {
  // What cannot be a slug is no project, and the database might not even take it as text.
  return Name.safeParse(request.params['project']).data;
}

const notFoundCodes: Readonly<Record<string, ProblemCode>> = {
  'API keys': 'api_key_not_found',
  Events: 'event_subscription_not_found',
  Jobs: 'job_not_found',
  Queues: 'queue_not_found',
  Schedules: 'schedule_not_found',
  Workers: 'worker_not_found',
};

// What cannot be a name or an id names nothing: the answer is the same as for an unknown one.
function readParams(route: Route, request: Request): unknown {
  if (route.params === undefined) return undefined;
  const parsed = route.params.safeParse(request.params);
  if (parsed.success) return parsed.data;
  throw new HttpProblem(notFoundCodes[route.tag] ?? 'project_not_found');
}

async function write(response: Response, route: Route, answer: Answer<unknown>): Promise<void> {
  response.status(answer.status ?? route.statuses[0]);
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (route.response === undefined) response.end();
  else if (route.responseType === undefined) response.json(answer.body);
  else if (route.responseType === 'text/event-stream') await stream(response, answer.body);
  else response.send(answer.body);
}

/** Whoever reads may leave at any time, which is no error. */
async function stream(response: Response, body: unknown): Promise<void> {
  response.flushHeaders();
  // The handler of such a route is typed to give that.
  const frames = Readable.from(body as AsyncIterable<string>, { objectMode: false });
  await pipeline(frames, response).catch((error: unknown) => {
    if (!response.destroyed) throw error;
  });
}

function refuseOtherMethods(app: Express): void {
  const methods = new Map<string, string[]>();
  for (const { path, method } of Object.values<Route>(routes)) {
    methods.set(path, [...(methods.get(path) ?? []), method.toUpperCase()]);
  }
  for (const [path, allowed] of methods) {
    app.all(expressPath(path), () => {
      const headers = { allow: allowed.join(', ') };
      throw new HttpProblem('method_not_allowed', { headers });
    });
  }
}

function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
