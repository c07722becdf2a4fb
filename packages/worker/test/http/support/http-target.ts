import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { everyNameIs, makeHandler } from './handler-under-test.ts';
import type { Ending } from './handler-under-test.ts';
import type { AttemptFacts } from './job-context.ts';
import { serveHttp } from './loopback-server.ts';

/** A request as the target saw it. */
export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A target that notes what it got and answers as told, and a handler that may call it. */
export async function openTarget(
  answer: RequestListener = (_request, response) => response.end('ok'),
) {
  const received: Received[] = [];
  const server = await serveHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      received.push({ method: request.method, path: request.url, headers: request.headers, body });
      answer(request, response);
    });
  });
  const port = String(server.port);
  const handler = makeHandler({
    allowHosts: `http://127.0.0.1:${port}, http://*.example.test:${port}`,
    allowCidrs: '127.0.0.1/32',
    lookup: everyNameIs('127.0.0.1'),
    now: () => Date.UTC(2026, 0, 1),
  });
  return {
    server,
    received,
    origin: `http://127.0.0.1:${port}`,
    elsewhere: `http://other.example.test:${port}`,
    call: (payload: object, facts?: AttemptFacts): Promise<Ending> =>
      handler.run({ url: `http://127.0.0.1:${port}/`, ...payload }, facts),
  };
}
